import CloudKitModel
import SQLEngine
import StoreModel

/// A delivery with its notification and its device.
struct DeliveryRow {
  /// The start of a statement, up to its condition. A delivery is left out if its device, the
  /// number of its device's token, its route or its log entry was deleted.
  static let selection = """
    SELECT \(DeviceToken.columns), deliveries.database_id, deliveries.number, deliveries.route,
      deliveries.badge, deliveries.attempts, deliveries.due, notification_log.subscriber,
      notification_log.logged, notification_log.content
    FROM deliveries
    JOIN push_routes ON push_routes.route = deliveries.route
    JOIN notification_log ON notification_log.database_id = deliveries.database_id
      AND notification_log.sequence = deliveries.log_sequence
    JOIN device_numbers ON device_numbers.device = deliveries.device
    JOIN device_tokens ON device_tokens.kind = push_routes.kind
      AND device_tokens.token = device_numbers.token
      AND device_tokens.container = device_numbers.container
      AND device_tokens.environment = device_numbers.environment
    """

  private var device: DeviceToken
  private var id: Delivery.ID
  private var route: DeliveryRoute.ID
  private var badge: Int?
  private var attempts: Int
  private var due: Timestamp
  private var subscriber: String
  private var logged: Timestamp
  private var content: [UInt8]

  init(_ row: any SQLRow) throws {
    let first = DeviceToken.columnCount
    device = try DeviceToken(row: row)
    id = Delivery.ID(database: row.database(first), number: row.integer(first + 1))
    route = DeliveryRoute.ID(rawValue: row.integer(first + 2))
    badge = row.optionalInteger(first + 3).map { Int($0) }
    attempts = row.count(first + 4)
    due = row.time(first + 5)
    subscriber = row.text(first + 6)
    logged = row.time(first + 7)
    content = row.bytes(first + 8)
  }

  /// Returns nil if the device is now registered for another user: a notification never reaches the
  /// next user of a device.
  func delivery(in transaction: StoreTransaction) throws -> Delivery? {
    let address = try DatabaseTable(transaction: transaction).address(of: id.database)
    guard device.userRecordName == subscriber else { return nil }
    let notification = try SubscriptionNotification(
      stored: content, database: address, subscriber: subscriber)
    return Delivery(
      id: id, route: route, notification: notification, device: device, badge: badge,
      logged: logged, attempts: attempts, due: due)
  }
}

extension Delivery.ID {
  init(row: any SQLRow) {
    self.init(database: row.database(0), number: row.integer(1))
  }
}

// MARK: Deliveries with their outcomes, for administrators

extension DeliveryTable {
  /// Log entries and deliveries share one sequence of numbers in a database; `next` is the number
  /// of the next log entry.
  func pastDeliveries(
    ofEntry sequence: Int64, before next: Int64, in database: DatabaseID, limit: Int
  ) throws -> [PastDelivery] {
    try connection.rows(
      sql.history.past, [.id(database), .integer(sequence), .integer(next), .count(limit)]
    ) { row in
      guard let state = DeliveryState(rawValue: row.integer(3)) else {
        throw StoreError(.corrupt, "delivery \(row.integer(0)) has an unknown state")
      }
      return PastDelivery(
        id: Delivery.ID(database: database, number: row.integer(0)),
        kind: row.optionalText(1).flatMap { DeviceToken.Kind(rawValue: $0) }, token: row.text(2),
        state: state, attempts: row.count(4), reason: row.optionalText(5), updated: row.time(6),
        due: row.time(7), mergedInto: row.optionalInteger(8))
    }
  }

  struct HistoryStatements {
    let past: Statement = """
      SELECT number, push_routes.kind, COALESCE(token, ''), state, attempts, reason, updated, due,
        merged_into
      FROM deliveries LEFT JOIN push_routes ON push_routes.route = deliveries.route
        LEFT JOIN device_numbers ON device_numbers.device = deliveries.device
      WHERE database_id = $1 AND number > $2 AND number < $3 AND log_sequence = $2
      ORDER BY number LIMIT $4
      """
  }
}
