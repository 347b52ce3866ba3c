import CloudKitModel
import StoreModel

/// The outbox: the committed changes that wait to be matched against subscriptions.
///
/// The dispatcher is the caller. The dispatcher gets changes from the commit handler, and reads
/// from the outbox the changes that did not come that way.
struct OutboxService: OutboxStore {
  let transactions: Transactions

  /// Sets the function that gets the changes of each commit, on the writer's thread. The function
  /// must not block.
  func setCommitHandler(_ handler: (@Sendable ([OutboxEntry]) -> Void)?) {
    transactions.writer.setCommitHandler(handler)
  }

  /// Sets the function that is called after a commit with an unknown outcome.
  func setDoubtHandler(_ handler: (@Sendable () -> Void)?) {
    transactions.writer.setDoubtHandler(handler)
  }

  /// Returns the databases with undispatched changes, in the order of their numbers. In a
  /// distributed store, the method asks for each database with changes by a statement of its own.
  func undispatchedDatabases() async throws -> [DatabaseID] {
    if transactions.context.isDistributed {
      return try await transactions.read { transaction in
        let outbox = OutboxTable(transaction: transaction)
        return try outbox.databases().filter { try outbox.hasUndispatched(in: $0) }
      }
    }
    return try await transactions.read { try OutboxTable(transaction: $0).undispatchedDatabases() }
  }

  /// Returns the next changes of a part that are not dispatched yet; see
  /// ``OutboxTable/undispatchedEntries(in:after:limit:)``.
  func undispatchedChanges(
    in part: DatabasePart, after sequence: Int64, limit: Int
  ) async throws -> [OutboxEntry] {
    try await transactions.read {
      try OutboxTable(transaction: $0).undispatchedEntries(in: part, after: sequence, limit: limit)
    }
  }

  /// Encodes the notifications of a change, on the caller's thread. The method reads nothing from
  /// the store.
  func prepare(_ change: inout MatchedChange) {
    change.preparation = PreparedChange(change).notifications
  }

  /// Writes the effects of matched changes in one transaction; see ``DispatchCompletion``.
  ///
  /// Unprepared changes are encoded first, and the result is converted afterwards, both on the
  /// caller's side.
  func completeDispatch(
    of changes: [MatchedChange], timestamp: Timestamp, leasing capacity: DeliveryCapacity?
  ) async throws -> DispatchResult {
    let changes = changes.map { PreparedChange($0) }
    let outcome = try await transactions.write(locking: .dispatch(of: changes)) { transaction in
      var dispatch = DispatchCompletion(
        timestamp: timestamp, capacity: capacity, transaction: transaction)
      try dispatch.complete(changes)
      return dispatch.outcome
    }
    return outcome.result(of: changes, timestamp: timestamp)
  }
}
