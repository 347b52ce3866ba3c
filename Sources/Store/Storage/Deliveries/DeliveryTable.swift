import CloudKitModel
import SQLEngine
import StoreModel

/// The deliveries of notifications to devices.
///
/// They are found by route, so that a stuck route delays no other.
///
/// While a process has leased a delivery, `due` is the end of the lease and `leased_by` names the
/// process. `merge_key` is equal for deliveries to one device of which only the newest need be
/// sent; `merged_into` names that one.
struct DeliveryTable {
  let transaction: StoreTransaction

  var connection: any SQLConnection { transaction.connection }

  /// The numbers are of the database's sequence: the deliveries of a log entry have the numbers
  /// after `log_sequence`, before the next entry. `device` is the number of the device's token.
  /// `state` is 0 before an outcome, then one of ``FinalDeliveryState``. `due` and `updated` are in
  /// milliseconds since 1970. `badge` is null if the subscription asks for none.
  ///
  /// The two partial indexes have only deliveries without an outcome. The first serves claims, the
  /// second merging and the limits for each user.
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

  /// The statement that writes new deliveries, with ten arguments for each
  /// (``NewDelivery/appendArguments(to:)``). New deliveries have no attempts and no outcome.
  static let insertion = RowInsertion.Statements(
    """
    INSERT INTO deliveries
      (database_id, number, log_sequence, device, badge, due, updated, route, leased_by, merge_key,
        attempts, state)
    """, argumentsEach: 10
  ) { first in (first..<first + 10).map { "$\($0)" }.joined(separator: ", ") + ", 0, 0" }

  // MARK: Reading

  /// The unsettled deliveries with these IDs, and the IDs of those whose device or log entry is
  /// gone.
  ///
  /// The method runs one statement for each delivery.
  func deliveries(
    _ ids: [Delivery.ID]
  ) throws -> (found: [Delivery], lost: [Delivery.ID]) {
    var found: [Delivery] = []
    found.reserveCapacity(ids.count)
    var lost: [Delivery.ID] = []
    for id in ids {
      let row = try connection.first(
        """
        \(DeliveryRow.selection) WHERE deliveries.database_id = $1 AND deliveries.number = $2
        """, [.integer(id.database.rawValue), .integer(id.number)], DeliveryRow.init)
      if let delivery = try row?.delivery(in: transaction) {
        found.append(delivery)
      } else {
        lost.append(id)
      }
    }
    return (found, lost)
  }

  /// Due deliveries of all databases, leased or not.
  ///
  /// - Parameter limit: the most deliveries read, those that are due longest first. The result
  ///   leaves out those whose device has another user by now.
  func due(at timestamp: Timestamp, limit: Int) throws -> [Delivery] {
    try connection.rows(
      """
      \(DeliveryRow.selection)
      WHERE deliveries.state = 0 AND deliveries.due <= $1
      ORDER BY deliveries.due, deliveries.database_id, deliveries.number LIMIT $2
      """,
      [.integer(timestamp.milliseconds), .integer(Int64(max(0, limit)))], DeliveryRow.init
    ).compactMap { try $0.delivery(in: transaction) }
  }

  /// When the next delivery on a route that a server may take is due.
  ///
  /// - Parameters:
  ///   - timestamp: times up to this one do not count.
  ///   - holder: the server, whose own leases count.
  /// - Returns: nil if there is none.
  func nextTime(
    on route: DeliveryRoute.ID, after timestamp: Timestamp, for holder: Int64
  ) throws -> Timestamp? {
    try connection.first(
      """
      SELECT due FROM deliveries WHERE state = 0 AND route = $1 AND due > $2
        AND \(Self.isAvailable(to: "$3"))
      ORDER BY due LIMIT 1
      """,
      [.integer(route.rawValue), .integer(timestamp.milliseconds), .integer(holder)]
    ) { Timestamp(milliseconds: $0.integer(0)) }
  }

  /// The number of deliveries of all databases without an outcome.
  func owedCount() throws -> Int {
    try connection.first("SELECT COUNT(*) FROM deliveries WHERE state = 0", []) {
      Int($0.integer(0))
    } ?? 0
  }

  /// The number of deliveries of a database to these devices without an outcome.
  ///
  /// - Parameters:
  ///   - devices: the numbers of the devices' tokens.
  ///   - limit: the count at which the method stops.
  /// - Complexity: O(`limit`) plus the devices' waiting deliveries in other databases.
  func owedCount(
    to devices: ArraySlice<Int64>, in database: DatabaseID, atMost limit: Int
  ) throws -> Int {
    var left = limit
    for device in devices where left > 0 {
      left -=
        try connection.first(
          """
          SELECT COUNT(*) FROM (
            SELECT 1 FROM deliveries WHERE device = $1 AND state = 0 AND database_id = $2 LIMIT $3)
            AS waiting
          """, [.integer(device), .integer(database.rawValue), .integer(Int64(left))]
        ) { Int($0.integer(0)) } ?? 0
    }
    return limit - left
  }

  /// The device that a delivery is for. The result is nil if the delivery, its route or the
  /// device's number is gone.
  func device(of id: Delivery.ID) throws -> (token: String, kind: String)? {
    try connection.first(
      """
      SELECT device_numbers.token, push_routes.kind FROM deliveries
      JOIN push_routes ON push_routes.route = deliveries.route
      JOIN device_numbers ON device_numbers.device = deliveries.device
      WHERE database_id = $1 AND number = $2
      """, [.integer(id.database.rawValue), .integer(id.number)]
    ) { (token: $0.text(0), kind: $0.text(1)) }
  }

  // MARK: Retention

  /// A batch of old finished deliveries, and of deliveries whose log entry is gone.
  ///
  /// - Parameter horizon: milliseconds since 1970; a delivery finished before it is old.
  /// - Returns: at most ``Retention/batch`` deliveries, in no order.
  func old(before horizon: Int64) throws -> [Delivery.ID] {
    try connection.rows(
      """
      SELECT database_id, number FROM deliveries
      WHERE (state <> 0 AND updated < $1) OR NOT EXISTS (
        SELECT 1 FROM notification_log
        WHERE notification_log.database_id = deliveries.database_id
          AND notification_log.sequence = deliveries.log_sequence)
      LIMIT $2
      """, [.integer(horizon), .integer(Retention.batch)], Delivery.ID.init(row:))
  }

  /// Deletes deliveries, and returns the number of IDs passed.
  func drop(_ ids: [Delivery.ID]) throws -> Int {
    for (database, ids) in Dictionary(grouping: ids, by: \.database) {
      try transaction.delete(
        "DELETE FROM deliveries WHERE database_id = $1 AND number IN",
        [.integer(database.rawValue)], numbers: ids.map(\.number))
    }
    return ids.count
  }

  /// Removes the deliveries of a log entry, which are numbered before the next entry.
  func remove(ofEntry sequence: Int64, before next: Int64, in database: DatabaseID) throws {
    try connection.run(
      """
      DELETE FROM deliveries
      WHERE database_id = $1 AND number > $2 AND number < $3 AND log_sequence = $2
      """, [.integer(database.rawValue), .integer(sequence), .integer(next)])
  }
}

/// A delivery to be inserted.
struct NewDelivery {
  var database: DatabaseID
  var number: Int64
  /// The number of the log entry, which is lower than ``number``.
  var logSequence: Int64
  /// The number of the device's token.
  var device: Int64
  /// The device's badge after the notification; nil if the subscription asks for none.
  var badge: Int?
  /// The present, or the end of the lease if a process leases it from the start.
  var due: Timestamp
  var updated: Timestamp
  var route: DeliveryRoute.ID
  /// The process that has leased it from the start; nil if none.
  var holder: Int64?
  /// The text of the ``DeliveryMergeKey``; nil for a delivery that is never merged.
  var mergeKey: String?

  /// The arguments of ``DeliveryTable/insertion``. Their order is that of the statement's columns.
  func appendArguments(to row: inout SQLArguments) {
    row.append(database.rawValue)
    row.append(number)
    row.append(logSequence)
    row.append(device)
    row.append(badge.map { Int64($0) })
    row.append(due.milliseconds)
    row.append(updated.milliseconds)
    row.append(route.rawValue)
    row.append(holder)
    row.append(mergeKey)
  }
}
