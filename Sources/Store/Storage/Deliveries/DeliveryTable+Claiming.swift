import CloudKitModel
import SQLEngine
import StoreModel

// MARK: Claiming deliveries

extension DeliveryTable {
  /// Returns the SQL condition for deliveries that `holder` may lease: no other registered server
  /// has leased them.
  ///
  /// - Parameter holder: the SQL parameter with the number of the calling process, such as `$4`.
  static func isAvailable(to holder: String) -> String {
    """
    (leased_by IS NULL OR leased_by = \(holder)
      OR NOT EXISTS (SELECT 1 FROM servers WHERE server_id = leased_by))
    """
  }

  /// The SQL clause that locks the selected rows on a store that servers share. PostgreSQL skips
  /// rows that another transaction has locked, and does not wait for them.
  private static let skippingLocked = " FOR NO KEY UPDATE SKIP LOCKED"

  /// Returns due deliveries of all databases that `holder` may lease, and locks their rows until
  /// the transaction ends.
  func claimable(
    on route: DeliveryRoute.ID, dueAt timestamp: Timestamp, by holder: Int64, limit: Int
  ) throws -> [DueDelivery] {
    try connection.rows(
      Self.sql.claiming.claimable(locking: connection.isShared),
      [
        .integer(route.rawValue), .integer(timestamp.milliseconds), .integer(Int64(limit)),
        .integer(holder),
      ], DueDelivery.init(row:))
  }

  /// Returns one delivery and locks its row until the transaction ends, if the delivery is still
  /// due on the route and `holder` may lease it; otherwise nil.
  func claimable(
    _ id: Delivery.ID, on route: DeliveryRoute.ID, dueAt timestamp: Timestamp, by holder: Int64
  ) throws -> DueDelivery? {
    try connection.first(
      Self.sql.claiming.claimableOne(locking: connection.isShared),
      [
        .id(id.database), .integer(id.number), .integer(route.rawValue),
        .integer(timestamp.milliseconds), .integer(holder),
      ], DueDelivery.init(row:))
  }

  func due(
    on route: DeliveryRoute.ID, at timestamp: Timestamp, for holder: Int64, limit: Int
  ) throws -> [Delivery.ID] {
    try connection.rows(
      Self.sql.claiming.due,
      [
        .integer(route.rawValue), .integer(timestamp.milliseconds), .integer(Int64(limit)),
        .integer(holder),
      ], Delivery.ID.init(row:))
  }

  /// Returns the number of the newest waiting delivery that can replace `delivery`: it has the same
  /// database and device, this merge key and a greater number.
  func newest(withKey mergeKey: String, behind delivery: DueDelivery) throws -> Int64? {
    try connection.first(
      Self.sql.claiming.newest,
      [
        .integer(delivery.device), .text(mergeKey), .id(delivery.id.database),
        .integer(delivery.id.number),
      ]
    ) { $0.integer(0) }
  }

  func newestSilent(for device: Int64, in database: DatabaseID) throws -> Int64? {
    try connection.first(
      Self.sql.claiming.newestSilent,
      [
        // The keys of silent deliveries begin with "s", so they are at least "s" and below "t".
        .integer(device), .text(DeliveryMergeKey.silentPrefix), .text("t"),
        .id(database),
      ]
    ) { $0.optionalInteger(0) } ?? nil
  }

  /// Merges a delivery into a newer one: the older delivery gets a final state and is never sent.
  ///
  /// - Parameters:
  ///   - id: the older delivery.
  ///   - newer: the number of the newer delivery in the same database.
  func merge(_ id: Delivery.ID, into newer: Int64, at timestamp: Timestamp) throws {
    try connection.run(
      Self.sql.claiming.merge,
      [
        .id(id.database), .integer(id.number), .integer(FinalDeliveryState.merged),
        .integer(timestamp.milliseconds), .integer(newer),
      ])
  }

  func lease(_ id: Delivery.ID, _ lease: DeliveryLease) throws {
    try connection.run(
      Self.sql.claiming.lease,
      [
        .id(id.database), .integer(id.number), .integer(lease.until.milliseconds),
        .integer(lease.holder),
      ])
  }

  // MARK: Leases of processes that are no longer registered

  /// The most deliveries whose leases one call of ``takenByGoneServers(at:exceptOf:)`` finds.
  static let reclaimBatch = 1_000

  /// Returns a batch of deliveries whose leases have not ended, and whose holders are not
  /// registered servers.
  ///
  /// - Parameters:
  ///   - timestamp: the present time.
  ///   - holder: the number of the process whose leases are left out.
  func takenByGoneServers(at timestamp: Timestamp, exceptOf holder: Int64) throws -> [Delivery.ID] {
    // A lease that has not ended has a `due` in the future, so the index skips all due deliveries.
    // The index begins with the route; the join with `push_routes` supplies each route.
    try connection.rows(
      Self.sql.claiming.takenByGoneServers,
      [.integer(timestamp.milliseconds), .integer(holder), .integer(Int64(Self.reclaimBatch))],
      Delivery.ID.init(row:))
  }

  /// Ends the leases of other processes on these deliveries, which become due at `timestamp`.
  ///
  /// Deliveries that have got a final state or a lease of `holder` since they were read stay as
  /// they are.
  func reclaim(_ ids: [Delivery.ID], at timestamp: Timestamp, exceptOf holder: Int64) throws {
    for id in ids {
      try connection.run(
        Self.sql.claiming.reclaim,
        [.id(id.database), .integer(id.number), .integer(timestamp.milliseconds), .integer(holder)])
    }
  }

  struct ClaimingStatements {
    /// One transaction claims deliveries of all databases, except on a distributed store.
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

/// The columns of a due delivery by which a claim decides whether to merge or to lease it.
struct DueDelivery {
  /// The columns that ``init(row:)`` reads.
  static let columns = "database_id, number, device, merge_key, leased_by"

  var id: Delivery.ID
  /// The number of the device's token (``DeviceTable``).
  var device: Int64
  /// The text of the ``DeliveryMergeKey``; nil for a delivery that is never merged.
  var mergeKey: String?
  /// Whether a process had leased the delivery before. That lease has ended.
  var wasLeased: Bool

  /// Reads a row.
  ///
  /// - Parameter row: has ``columns``.
  init(row: any SQLRow) {
    id = Delivery.ID(row: row)
    device = row.integer(2)
    mergeKey = row.optionalText(3)
    wasLeased = !row.isNull(4)
  }
}
