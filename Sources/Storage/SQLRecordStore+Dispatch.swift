import CloudKitModel

extension SQLRecordStore {
  public func undispatchedChanges(
    in database: DatabaseID, after sequence: Int64, limit: Int
  ) async throws -> [OutboxEntry] {
    try await read { session in
      try session.connection.rows(
        """
        SELECT sequence, subscription_version, content, settled_subscriber, settled_subscription
        FROM outbox
        WHERE database_id = $1 AND sequence > $2 ORDER BY sequence LIMIT $3
        """,
        [.integer(database.rawValue), .integer(sequence), .integer(Int64(max(0, limit)))]
      ) { row in
        let content = row.bytes(2)
        var decoder = try RowDecoder(
          content, of: "change \(row.integer(0)) of database \(database.rawValue)")
        let change = try decoder.decodeChange()
        try decoder.finish()
        var entry = OutboxEntry(
          database: database, sequence: row.integer(0), subscriptionVersion: row.integer(1),
          change: change, settledThrough: SubscriptionName(row.optionalText(3), row.optionalText(4))
        )
        if session.historyLimits.keepsContent(ofBytes: content.count) { entry.content = content }
        return entry
      }
    }
  }

  public func completeDispatch(
    of changes: [MatchedChange], timestamp: Timestamp, leasing room: DeliveryRoom?
  ) async throws -> DispatchResult {
    let outcome = try await write { session in
      var dispatch = DispatchCompletion(timestamp: timestamp, room: room, session: session)
      try dispatch.complete(changes)
      return dispatch.outcome
    }
    return outcome.result(of: changes, timestamp: timestamp)
  }
}

extension SubscriptionName {
  fileprivate init?(_ subscriber: String?, _ subscriptionID: String?) {
    guard let subscriber, let subscriptionID else { return nil }
    self.init(subscriber: subscriber, subscriptionID: subscriptionID)
  }
}
