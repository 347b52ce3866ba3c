import CloudKitModel
import StoreModel

extension SQLRecordStore {
  public func undispatchedChanges(
    in part: DatabasePart, after sequence: Int64, limit: Int
  ) async throws -> [OutboxEntry] {
    try await read { session in
      let database = part.database
      let position = try session.dispatchPosition(of: part)
      let begin = max(sequence, position?.wholeThrough ?? .min)
      let end = try DispatchLeaseTable(session: session).repartition(of: part)?.lastChange ?? .max
      return try session.connection.rows(
        """
        SELECT sequence, subscription_version, content FROM outbox
        WHERE database_id = $1 AND sequence > $2 AND sequence <= $3 ORDER BY sequence LIMIT $4
        """,
        [
          .integer(database.rawValue), .integer(begin), .integer(end),
          .integer(Int64(max(0, limit))),
        ]
      ) { row in
        let content = row.bytes(2)
        var decoder = try RowDecoder(
          content, of: "change \(row.integer(0)) of database \(database.rawValue)")
        let change = try decoder.decodeChange()
        try decoder.finish()
        var entry = OutboxEntry(
          part: part, sequence: row.integer(0), subscriptionVersion: row.integer(1),
          change: change)
        if entry.sequence == position?.through { entry.settledThrough = position?.settled }
        entry.isLarge = content.count > session.historyLimits.changeBytes
        return entry
      }
    }
  }

  public func prepare(_ change: inout MatchedChange) {
    change.preparation = PreparedChange(change).notifications
  }

  public func completeDispatch(
    of changes: [MatchedChange], timestamp: Timestamp, leasing room: DeliveryRoom?
  ) async throws -> DispatchResult {
    let changes = changes.map { PreparedChange($0) }
    let outcome = try await write(locking: .dispatch(of: changes)) { session in
      var dispatch = DispatchCompletion(timestamp: timestamp, room: room, session: session)
      try dispatch.complete(changes)
      return dispatch.outcome
    }
    return outcome.result(of: changes, timestamp: timestamp)
  }
}
