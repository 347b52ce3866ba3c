import CloudKitModel
import StoreModel

/// The committed changes that wait to be matched against subscriptions.
struct OutboxService: OutboxStore {
  let transactions: Transactions

  func setCommitHandler(_ handler: (@Sendable ([OutboxEntry]) -> Void)?) {
    transactions.writer.setCommitHandler(handler)
  }

  func setDoubtHandler(_ handler: (@Sendable () -> Void)?) {
    transactions.writer.setDoubtHandler(handler)
  }

  func undispatchedDatabases() async throws -> [DatabaseID] {
    if transactions.context.isDistributed {
      return try await transactions.read { transaction in
        let outbox = OutboxTable(transaction: transaction)
        return try outbox.databases().filter { try outbox.hasUndispatched(in: $0) }
      }
    }
    return try await transactions.read { try OutboxTable(transaction: $0).undispatchedDatabases() }
  }

  func undispatchedChanges(
    in part: DatabasePart, after sequence: Int64, limit: Int
  ) async throws -> [OutboxEntry] {
    try await transactions.read {
      try OutboxTable(transaction: $0).undispatchedEntries(in: part, after: sequence, limit: limit)
    }
  }

  func prepare(_ change: inout MatchedChange) {
    change.preparation = PreparedChange(change).notifications
  }

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
