import CloudKitModel
import SQLEngine
import StoreModel

extension SQLRecordStore {
  public func saveDeviceToken(
    _ token: DeviceToken, unlessBeyond limit: Int
  ) async throws -> Bool {
    try await writeDevices { session, orders in
      let known = try session.deviceToken(token.token, kind: token.kind)?.device
      if let known, known.hasSameReader(as: token) {
        try session.save(token, ordering: &orders)
        return true
      }
      let others = try session.connection.first(
        """
        SELECT COUNT(*) FROM device_tokens
        WHERE user_record_name = $1 AND kind = $2 AND token <> $3 AND container = $4
          AND environment = $5 AND (expires IS NULL OR expires > $6)
        """,
        [
          .text(token.userRecordName), .text(token.kind.rawValue), .text(token.token),
          .text(token.container), .text(token.environment.rawValue),
          .integer(token.registered.milliseconds),
        ]
      ) { $0.integer(0) }
      guard others ?? 0 < limit else {
        session.quotas.note(refusalOf: token.kind.quota)
        return false
      }
      try session.save(token, ordering: &orders)
      return true
    }
  }

  public func removeDeviceToken(
    _ token: String, kind: DeviceToken.Kind, of recipient: Recipient, at timestamp: Timestamp
  ) async throws -> Bool {
    try await writeDevices { session, orders in
      let removed: [SQLValue] = [
        .text(kind.rawValue), .text(token), .text(recipient.userRecordName),
        .text(recipient.container), .text(recipient.environment.rawValue),
      ]
      let condition = """
        kind = $1 AND token = $2 AND user_record_name = $3 AND container = $4 AND environment = $5
        """
      try session.rememberGoneDevices(
        where: condition, removed, at: timestamp, because: "it was unregistered")
      let count = try session.connection.run(
        "DELETE FROM device_tokens WHERE " + condition, removed)
      guard count > 0 else { return false }
      orders.append(
        DeliveryOrder(
          token: token, userRecordName: recipient.userRecordName,
          action: .abandon(reason: "the device was unregistered", at: timestamp)))
      return true
    }
  }
}

extension StoreSession {
  /// Forgets all of a user's devices of a kind, and gives up what is owed to them.
  func removeDevices(
    of userRecordName: String, kind: DeviceToken.Kind, at timestamp: Timestamp,
    ordering orders: inout [DeliveryOrder]
  ) throws {
    let removed: [SQLValue] = [.text(userRecordName), .text(kind.rawValue)]
    let condition = "user_record_name = $1 AND kind = $2"
    try rememberGoneDevices(
      where: condition, removed, at: timestamp, because: "it was unregistered")
    let tokens = try connection.rows(
      "DELETE FROM device_tokens WHERE \(condition) RETURNING token", removed
    ) { $0.text(0) }
    orders += tokens.map {
      DeliveryOrder(
        token: $0, userRecordName: userRecordName,
        action: .abandon(reason: "the device was unregistered", at: timestamp))
    }
  }
}
