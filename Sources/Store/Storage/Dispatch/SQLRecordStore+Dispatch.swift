import CloudKitModel
import StoreModel

extension SQLRecordStore: OutboxStore {
  public func undispatchedChanges(
    in part: DatabasePart, after sequence: Int64, limit: Int
  ) async throws -> [OutboxEntry] {
    try await read {
      try OutboxTable(transaction: $0).undispatchedEntries(in: part, after: sequence, limit: limit)
    }
  }

  public func prepare(_ change: inout MatchedChange) {
    change.preparation = PreparedChange(change).notifications
  }

  public func completeDispatch(
    of changes: [MatchedChange], timestamp: Timestamp, leasing room: DeliveryRoom?
  ) async throws -> DispatchResult {
    let changes = changes.map { PreparedChange($0) }
    let outcome = try await write(locking: .dispatch(of: changes)) { transaction in
      var dispatch = DispatchCompletion(timestamp: timestamp, room: room, transaction: transaction)
      try dispatch.complete(changes)
      return dispatch.outcome
    }
    return outcome.result(of: changes, timestamp: timestamp)
  }
}
