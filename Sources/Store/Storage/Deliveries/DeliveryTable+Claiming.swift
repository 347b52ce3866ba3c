import CloudKitModel
import SQLEngine
import StoreModel

// MARK: Claiming deliveries

extension DeliveryTable {
  /// The SQL condition for deliveries that no other registered server has leased.
  ///
  /// - Parameter holder: the SQL parameter with the number of the calling process, such as `$4`.
  static func isAvailable(to holder: String) -> String {
    """
    (leased_by IS NULL OR leased_by = \(holder)
      OR NOT EXISTS (SELECT 1 FROM servers WHERE server_id = leased_by))
    """
  }

  /// PostgreSQL skips rows that another transaction has locked, and does not wait for them.
  private static let skippingLocked = " FOR NO KEY UPDATE SKIP LOCKED"

  func claimable(
    on route: DeliveryRoute.ID, dueAt timestamp: Timestamp, by holder: Int64, limit: Int
  ) throws -> [DueDelivery] {
    try connection.rows(
      sql.claiming.claimable(locking: connection.isShared),
      [.integer(route.rawValue), .time(timestamp), .count(limit), .integer(holder)],
      DueDelivery.init(row:))
  }

  func claimable(
    _ id: Delivery.ID, on route: DeliveryRoute.ID, dueAt timestamp: Timestamp, by holder: Int64
  ) throws -> DueDelivery? {
    try connection.first(
      sql.claiming.claimableOne(locking: connection.isShared),
      [
        .id(id.database), .integer(id.number), .integer(route.rawValue), .time(timestamp),
        .integer(holder),
      ], DueDelivery.init(row:))
  }

  func due(
    on route: DeliveryRoute.ID, at timestamp: Timestamp, for holder: Int64, limit: Int
  ) throws -> [Delivery.ID] {
    try connection.rows(
      sql.claiming.due,
      [.integer(route.rawValue), .time(timestamp), .count(limit), .integer(holder)],
      Delivery.ID.init(row:))
  }

  /// Returns the newest waiting delivery with the same database and device, and a greater number.
  func newest(withKey mergeKey: String, behind delivery: DueDelivery) throws -> Int64? {
    try connection.integer(
      sql.claiming.newest,
      [
        .integer(delivery.device), .text(mergeKey), .id(delivery.id.database),
        .integer(delivery.id.number),
      ])
  }

  func newestSilent(for device: Int64, in database: DatabaseID) throws -> Int64? {
    let prefix = DeliveryMergeKey.silentPrefix
    return try connection.first(
      sql.claiming.newestSilent,
      [.integer(device), .text(prefix), .text(prefix + "\u{10FFFF}"), .id(database)]
    ) { $0.optionalInteger(0) } ?? nil
  }

  /// Gives the older delivery a final state, so that it is never sent.
  func merge(_ id: Delivery.ID, into newer: Int64, at timestamp: Timestamp) throws {
    try decide(
      sql.claiming.merge,
      [
        .id(id.database), .integer(id.number), .integer(DeliveryState.merged.rawValue),
        .time(timestamp), .integer(newer),
      ])
  }

  func lease(_ id: Delivery.ID, _ lease: DeliveryLease) throws {
    try decide(
      sql.claiming.lease,
      [.id(id.database), .integer(id.number), .time(lease.until), .integer(lease.holder)])
  }

  // MARK: Leases of processes that are no longer registered

  /// The most deliveries of one call of ``takenByGoneServers(at:exceptOf:)``.
  static let reclaimBatch = 1_000

  func takenByGoneServers(at timestamp: Timestamp, exceptOf holder: Int64) throws -> [Delivery.ID] {
    // A lease that has not ended has a `due` in the future, so the index skips all due deliveries.
    // The index begins with the route; the join with `push_routes` supplies each route.
    try connection.rows(
      sql.claiming.takenByGoneServers,
      [.time(timestamp), .integer(holder), .count(Self.reclaimBatch)], Delivery.ID.init(row:))
  }

  /// Leaves those that have got a final state or a lease of `holder` since they were read.
  func reclaim(_ ids: [Delivery.ID], at timestamp: Timestamp, exceptOf holder: Int64) throws {
    for id in ids {
      try decide(
        sql.claiming.reclaim,
        [.id(id.database), .integer(id.number), .time(timestamp), .integer(holder)])
    }
  }

  struct ClaimingStatements {
    let claimable = LockingStatement(
      """
      SELECT \(DueDelivery.columns) FROM deliveries
      WHERE state = 0 AND route = $1 AND due <= $2
        AND \(isAvailable(to: "$4"))
      ORDER BY due, database_id, number LIMIT $3
      """, lock: skippingLocked, .undistributed)
    let claimableOne = LockingStatement(
      """
      SELECT \(DueDelivery.columns) FROM deliveries
      WHERE database_id = $1 AND number = $2 AND state = 0 AND route = $3 AND due <= $4
        AND \(isAvailable(to: "$5"))
      """, lock: skippingLocked)
    let due = """
      SELECT database_id, number FROM deliveries
      WHERE state = 0 AND route = $1 AND due <= $2
        AND \(DeliveryTable.isAvailable(to: "$4"))
      ORDER BY due, database_id, number LIMIT $3
      """.except(.everyDatabase)
    let newest: Statement = """
      SELECT number FROM deliveries
      WHERE state = 0 AND device = $1 AND merge_key = $2 AND database_id = $3 AND number > $4
      ORDER BY number DESC LIMIT 1
      """
    let newestSilent: Statement = """
      SELECT MAX(number) FROM deliveries
      WHERE state = 0 AND device = $1 AND merge_key >= $2 AND merge_key < $3 AND database_id = $4
      """
    let merge: Statement = """
      UPDATE deliveries SET state = $3, updated = $4, merged_into = $5
      WHERE database_id = $1 AND number = $2
      """
    let lease: Statement =
      "UPDATE deliveries SET due = $3, leased_by = $4 WHERE database_id = $1 AND number = $2"
    let takenByGoneServers = """
      SELECT deliveries.database_id, deliveries.number
      FROM deliveries JOIN push_routes ON push_routes.route = deliveries.route
      WHERE deliveries.state = 0 AND deliveries.due > $1 AND deliveries.leased_by <> $2
        AND NOT EXISTS (SELECT 1 FROM servers WHERE server_id = deliveries.leased_by)
      LIMIT $3
      """.except([.everyDatabase, .wholeTable])
    let reclaim: Statement = """
      UPDATE deliveries SET due = $3, leased_by = NULL
      WHERE database_id = $1 AND number = $2 AND state = 0 AND due > $3 AND leased_by <> $4
      """
  }
}

/// The columns by which a claim decides whether to merge or to lease a due delivery.
struct DueDelivery {
  static let columns = "database_id, number, device, merge_key, leased_by"

  var id: Delivery.ID
  var device: Int64
  /// Nil for a delivery that is never merged.
  var mergeKey: String?
  /// Whether a process had a lease of the delivery, which has ended.
  var wasLeased: Bool

  init(row: any SQLRow) {
    id = Delivery.ID(row: row)
    device = row.integer(2)
    mergeKey = row.optionalText(3)
    wasLeased = !row.isNull(4)
  }
}
