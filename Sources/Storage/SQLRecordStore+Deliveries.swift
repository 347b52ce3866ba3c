import CloudKitModel

extension SQLRecordStore {
  public func updateDeliveries(_ updates: [DeliveryUpdate]) async throws {
    try await write { session in
      for update in updates { try session.apply(update) }
    }
  }
}

/// The final states of a delivery in the store; 0 is owed.
private enum FinalState {
  static let delivered: Int64 = 1
  static let abandoned: Int64 = 2
}

extension StoreSession {
  /// Abandons what is owed to a token, wherever it comes from.
  func abandonDeliveries(
    toToken token: String, because reason: String, at timestamp: Timestamp
  ) throws {
    try connection.run(
      """
      UPDATE deliveries SET state = $2, reason = $3, updated = $4 WHERE token = $1 AND state = 0
      """,
      [
        .text(token), .integer(FinalState.abandoned), .text(reason),
        .integer(timestamp.milliseconds),
      ])
  }

  fileprivate func apply(_ update: DeliveryUpdate) throws {
    let key: [SQLValue] = [
      .integer(update.id.database.rawValue), .integer(update.id.number),
    ]
    let token = try connection.first(
      "SELECT token FROM deliveries WHERE database_id = $1 AND number = $2", key
    ) { $0.text(0) }
    guard let token else { return }
    let now = SQLValue.integer(update.timestamp.milliseconds)
    switch update.state {
    case .delivered:
      try finish(key, in: FinalState.delivered, reason: nil, at: now)
    case .abandoned(let reason):
      try finish(key, in: FinalState.abandoned, reason: reason, at: now)
    case .retry(let due, let reason):
      try connection.run(
        """
        UPDATE deliveries SET due = $3, reason = $4, updated = $5, attempts = attempts + 1
        WHERE database_id = $1 AND number = $2 AND state = 0
        """, key + [.integer(due.milliseconds), .text(reason), now])
    }
    guard let before = update.dropTokenRegisteredBefore else { return }
    let dropped = try connection.run(
      "DELETE FROM device_tokens WHERE kind = 'apns' AND token = $1 AND registered < $2",
      [.text(token), .integer(before.milliseconds)])
    guard dropped == 1 else { return }
    try abandonDeliveries(
      toToken: token, because: "the device token was dropped", at: update.timestamp)
  }

  private func finish(
    _ key: [SQLValue], in state: Int64, reason: String?, at now: SQLValue
  ) throws {
    try connection.run(
      """
      UPDATE deliveries SET state = $3, reason = $4, updated = $5, attempts = attempts + 1
      WHERE database_id = $1 AND number = $2 AND state = 0
      """, key + [.integer(state), SQLValue(reason), now])
  }
}
