import CloudKitModel
import SQLEngine
import StoreModel

/// What becomes of all that is owed to a device, or of what a reader has read, when the device's
/// registration changes.
///
/// It concerns all databases in which the device's user has ever had subscriptions. Where one transaction
/// can write to all of them it is carried out in the one that changes the registration. In a distributed
/// store each database has a transaction of its own after that: until then nothing goes to a device that
/// is not its notification's user's, for who takes a delivery looks at both.
struct DeliveryOrder: Sendable {
  enum Action: Sendable {
    /// Gives up what is owed.
    case abandon(reason: String, at: Timestamp)
    /// Sends it another way from now on.
    case move(to: DeliveryRoute.ID)
    /// Puts a reader of a container at the end of the log: it sees what comes from now on.
    case startReading(Recipient)
    /// Forgets how far a reader has read.
    case forgetReading
  }

  var token: String
  /// Whose device it is, or was.
  var userRecordName: String
  var action: Action
}

extension SQLRecordStore {
  /// Writes something about devices, and carries out what follows from it.
  func writeDevices<Value: Sendable>(
    locking locks: WriteLocks = .reference,
    _ body: @escaping @Sendable (StoreSession, inout [DeliveryOrder]) throws -> Value
  ) async throws -> Value {
    let (value, orders) = try await write(locking: locks) { session in
      var orders: [DeliveryOrder] = []
      let value = try body(session, &orders)
      guard !session.isDistributed else { return (value, orders) }
      for order in orders {
        for database in try SubscriberDatabaseTable(session: session).databases(
          of: order.userRecordName)
        {
          try session.carryOut(order, in: database)
        }
      }
      return (value, [])
    }
    for order in orders {
      let databases = try await read {
        try SubscriberDatabaseTable(session: $0).databases(of: order.userRecordName)
      }
      for database in databases {
        try await write(locking: .deliveries) { try $0.carryOut(order, in: database) }
      }
    }
    return value
  }
}

extension StoreSession {
  fileprivate func carryOut(_ order: DeliveryOrder, in database: DatabaseID) throws {
    let place: [SQLValue] = [.integer(database.rawValue), .text(order.token)]
    let toDevice = "device = (SELECT device FROM device_numbers WHERE token = $2)"
    switch order.action {
    case .abandon(let reason, let timestamp):
      // The device's next user may be owed something already.
      try connection.run(
        """
        UPDATE deliveries SET state = $4, reason = $5, updated = $6
        WHERE database_id = $1 AND \(toDevice) AND state = 0 AND EXISTS (
          SELECT 1 FROM notification_log
          WHERE notification_log.database_id = $1
            AND notification_log.sequence = deliveries.log_sequence AND subscriber = $3)
        """,
        place + [
          .text(order.userRecordName), .integer(FinalDeliveryState.abandoned), .text(reason),
          .integer(timestamp.milliseconds),
        ])
    case .move(let route):
      try connection.run(
        """
        UPDATE deliveries SET route = $3
        WHERE database_id = $1 AND \(toDevice) AND state = 0 AND route <> $3
        """, place + [.integer(route.rawValue)])
    case .startReading(let reader):
      try connection.run(
        """
        INSERT INTO courier_cursors (database_id, token, sequence)
        SELECT database_id, $2, last_number FROM databases
        WHERE database_id = $1 AND container = $3 AND environment = $4
        ON CONFLICT (database_id, token) DO UPDATE SET sequence = excluded.sequence
        """, place + [.text(reader.container), .text(reader.environment.rawValue)])
    case .forgetReading:
      try connection.run(
        "DELETE FROM courier_cursors WHERE database_id = $1 AND token = $2", place)
    }
  }
}
