import CloudKitModel
import SQLEngine
import StoreModel

/// The deliveries of notifications to devices.
///
/// A claim selects deliveries of one route (``PushRouteTable``), so a service that does not answer
/// delays only its own routes. While a process has leased a delivery, `due` is the end of the lease
/// and `leased_by` is the number of the process. Deliveries of one database to one device with the
/// same `merge_key` can be merged: only the newest is sent, and `merged_into` of the others is its
/// number.
struct DeliveryTable: Table {
  let transaction: StoreTransaction

  /// `number` and `log_sequence` come from the database's sequence of numbers. The numbers of a log
  /// entry's deliveries are above `log_sequence`, and below the number of the next entry.
  ///
  /// `device` is the number of the device's token. `state` is 0 for a delivery that waits, and then
  /// one of ``DeliveryState``. `badge` is null if the subscription asks for none. The first partial
  /// index is for claims, the second one for merging and the limits of users.
  static let definition = [
    """
    CREATE TABLE deliveries (
      database_id BIGINT NOT NULL, number BIGINT NOT NULL, log_sequence BIGINT NOT NULL,
      device BIGINT NOT NULL, badge BIGINT, due BIGINT NOT NULL, attempts BIGINT NOT NULL,
      state BIGINT NOT NULL, reason TEXT, updated BIGINT NOT NULL, route BIGINT NOT NULL,
      leased_by BIGINT, merge_key TEXT, merged_into BIGINT,
      PRIMARY KEY (database_id, number)) /*clustered*/
    """,
    """
    CREATE INDEX deliveries_owed_by_due ON deliveries (route, due, database_id, number)
    WHERE state = 0
    """,
    """
    CREATE INDEX deliveries_owed_to_device
    ON deliveries (device, merge_key, database_id, number) WHERE state = 0
    """,
  ]

  // MARK: Reading

  /// By one statement for each. `lost` has those that cannot be sent: their device or log entry was
  /// deleted, or the registration has ended or has another user by now.
  func deliveries(
    _ ids: [Delivery.ID], at timestamp: Timestamp
  ) throws -> (found: [Delivery], lost: [Delivery.ID]) {
    var found: [Delivery] = []
    found.reserveCapacity(ids.count)
    var lost: [Delivery.ID] = []
    for id in ids {
      let row = try connection.first(
        sql.delivery, [.id(id.database), .integer(id.number), .time(timestamp)], DeliveryRow.init)
      if let delivery = try row?.delivery(in: transaction) {
        found.append(delivery)
      } else {
        lost.append(id)
      }
    }
    return (found, lost)
  }

  /// Fewer than `limit` if some of these devices have another user or container by now.
  func due(at timestamp: Timestamp, limit: Int) throws -> [Delivery] {
    try connection.rows(sql.due, [.time(timestamp), .count(max(0, limit))], DeliveryRow.init)
      .compactMap { try $0.delivery(in: transaction) }
  }

  /// Deliveries that another registered server than `holder` has leased do not count.
  func nextTime(
    on route: DeliveryRoute.ID, after timestamp: Timestamp, for holder: Int64
  ) throws -> Timestamp? {
    try connection.first(
      sql.nextTime, [.integer(route.rawValue), .time(timestamp), .integer(holder)]
    ) { $0.time(0) }
  }

  func owedCount() throws -> Int {
    try connection.count(sql.owed, [])
  }

  /// - Complexity: O(`limit` + *w*) for *w* waiting deliveries of the devices in other databases;
  ///   one statement for each device.
  func owedCount(
    to devices: ArraySlice<Int64>, in database: DatabaseID, atMost limit: Int
  ) throws -> Int {
    var left = limit
    for device in devices where left > 0 {
      left -= try connection.count(
        sql.owedToDevice, [.integer(device), .id(database), .count(left)])
    }
    return limit - left
  }

  func device(of id: Delivery.ID) throws -> DeviceName? {
    try connection.first(sql.device, [.id(id.database), .integer(id.number)]) { row in
      guard let kind = DeviceToken.Kind(rawValue: row.text(0)) else {
        throw StoreError(.corrupt, "a delivery route has the unknown kind '\(row.text(0))'")
      }
      return DeviceName(
        kind: kind, token: row.text(1), container: row.text(2), environment: try row.environment(3))
    }
  }

  // MARK: Retention

  /// Final before `horizon`, or without their log entry.
  func old(before horizon: Int64) throws -> [Delivery.ID] {
    try connection.rows(
      sql.old, [.integer(horizon), .integer(Retention.batch)], Delivery.ID.init(row:))
  }

  func drop(_ ids: [Delivery.ID]) throws -> Int {
    var rows = SQLArguments()
    for id in ids { rows.append(id.database.rawValue, id.number) }
    try connection.runLater(sql.drop, rows: rows)
    return ids.count
  }

  /// `next` is the number of the next entry.
  func remove(ofEntry sequence: Int64, before next: Int64, in database: DatabaseID) throws {
    try decide(sql.remove, [.id(database), .integer(sequence), .integer(next)])
  }

  struct Statements {
    let claiming = ClaimingStatements()
    let history = HistoryStatements()
    let outcomes = OutcomesStatements()
    let insertion = RowStatement(
      inserting: """
        deliveries (database_id, number, log_sequence, device, badge, due, updated, route, leased_by,
          merge_key, attempts, state)
        """, [SQLTable.Kind](repeating: .integer, count: 9) + [.text], constants: ["0", "0"])
    let delivery: Statement = """
      \(DeliveryRow.selection) WHERE deliveries.database_id = $1 AND deliveries.number = $2
        AND \(DeviceTable.isValid(at: "$3"))
      """
    let due = """
      \(DeliveryRow.selection)
      WHERE deliveries.state = 0 AND deliveries.due <= $1
      ORDER BY deliveries.due, deliveries.database_id, deliveries.number LIMIT $2
      """.except([.everyDatabase, .wholeTable])
    let drop = RowStatement(
      deletingFrom: "deliveries", by: ["database_id": .integer, "number": .integer])
    let nextTime = """
      SELECT due FROM deliveries WHERE state = 0 AND route = $1 AND due > $2
        AND \(DeliveryTable.isAvailable(to: "$3"))
      ORDER BY due LIMIT 1
      """.except(.everyDatabase)
    let owed = "SELECT COUNT(*) FROM deliveries WHERE state = 0".except([
      .everyDatabase, .wholeTable,
    ])
    let owedToDevice: Statement = """
      SELECT COUNT(*) FROM (
        SELECT 1 FROM deliveries WHERE device = $1 AND state = 0 AND database_id = $2 LIMIT $3)
        AS waiting
      """
    let device: Statement = """
      SELECT push_routes.kind, device_numbers.token, device_numbers.container,
        device_numbers.environment
      FROM deliveries
      JOIN push_routes ON push_routes.route = deliveries.route
      JOIN device_numbers ON device_numbers.device = deliveries.device
      WHERE database_id = $1 AND number = $2
      """
    let old = """
      SELECT database_id, number FROM deliveries
      WHERE (state <> 0 AND updated < $1) OR NOT EXISTS (
        SELECT 1 FROM notification_log
        WHERE notification_log.database_id = deliveries.database_id
          AND notification_log.sequence = deliveries.log_sequence)
      LIMIT $2
      """.except([.everyDatabase, .wholeTable])
    let remove: Statement = """
      DELETE FROM deliveries
      WHERE database_id = $1 AND number > $2 AND number < $3 AND log_sequence = $2
      """
  }
  static let sql = Statements()
}

/// A delivery to be inserted.
struct NewDelivery {
  var database: DatabaseID
  var number: Int64
  /// Lower than ``number``.
  var logSequence: Int64
  var device: Int64
  var badge: Int?
  /// The time of the transaction, or the end of the lease.
  var due: Timestamp
  var updated: Timestamp
  var route: DeliveryRoute.ID
  /// The process that leases the delivery from the start; nil if none does.
  var holder: Int64?
  /// Nil for a delivery that is never merged.
  var mergeKey: String?

  func appendArguments(to row: inout SQLArguments) {
    row.append(database.rawValue, number)
    row.append(logSequence, device)
    row.append(badge.map { Int64($0) })
    row.append(due.milliseconds, updated.milliseconds)
    row.append(route.rawValue)
    row.append(holder)
    row.append(mergeKey)
  }
}
