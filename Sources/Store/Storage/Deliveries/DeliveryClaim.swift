import CloudKitModel
import SQLEngine
import StoreModel

/// Takes deliveries that are due, in the writer's transaction: those that may be merged into a newer
/// one are, the others are leased.
struct DeliveryClaim {
  struct Result: Sendable {
    var taken: [Delivery.ID] = []
    /// Those of them whose lease had ended.
    var renewed: Set<Delivery.ID> = []
    var mergedCount = 0
    /// Whether no more were due.
    var isAll = true

    mutating func add(_ other: Result) {
      taken += other.taken
      renewed.formUnion(other.renewed)
      mergedCount += other.mergedCount
    }
  }

  let route: DeliveryRoute.ID
  let timestamp: Timestamp
  let lease: DeliveryLease
  /// Whether a silent one goes for a newer one of any subscription, so that what waits for a device
  /// becomes one.
  let mergesHarder: Bool
  private(set) var result = Result()
  /// The newest silent one that waits for a device, by device and database.
  private var newestSilent: [Reader: Int64] = [:]

  private struct Reader: Hashable {
    var device: Int64
    var database: DatabaseID
  }

  private struct Row {
    static let columns = "database_id, number, device, merge_key, leased_by"

    var id: Delivery.ID
    var device: Int64
    var mergeKey: String?
    var wasLeased: Bool

    init(_ row: any SQLRow) {
      id = Delivery.ID(row: row)
      device = row.integer(2)
      mergeKey = row.optionalText(3)
      wasLeased = !row.isNull(4)
    }
  }

  init(
    route: DeliveryRoute.ID, timestamp: Timestamp, lease: DeliveryLease, mergesHarder: Bool
  ) {
    self.route = route
    self.timestamp = timestamp
    self.lease = lease
    self.mergesHarder = mergesHarder
  }

  /// The condition that no other server has taken a delivery, or is gone.
  static func isAvailable(to holder: String) -> String {
    """
    (leased_by IS NULL OR leased_by = \(holder)
      OR NOT EXISTS (SELECT 1 FROM servers WHERE server_id = leased_by))
    """
  }

  /// What another server is about to take, or to write an outcome of, is not waited for.
  private func passesOver(in session: StoreSession) -> String {
    session.connection.isShared ? " FOR NO KEY UPDATE SKIP LOCKED" : ""
  }

  /// Takes those that are due, whatever database they are of.
  mutating func take(atMost limit: Int, in session: StoreSession) throws {
    let rows = try session.connection.rows(
      """
      SELECT \(Row.columns) FROM deliveries
      WHERE state = 0 AND route = $1 AND due <= $2
        AND \(Self.isAvailable(to: "$4"))
      ORDER BY due, database_id, number LIMIT $3\(passesOver(in: session))
      """,
      [
        .integer(route.rawValue), .integer(timestamp.milliseconds), .integer(Int64(limit)),
        .integer(lease.holder),
      ], Row.init)
    try take(rows, in: session)
    result.isAll = rows.count < limit
  }

  /// Those that are due, whoever takes them first.
  func due(atMost limit: Int, in session: StoreSession) throws -> [Delivery.ID] {
    try session.connection.rows(
      """
      SELECT database_id, number FROM deliveries
      WHERE state = 0 AND route = $1 AND due <= $2
        AND \(Self.isAvailable(to: "$4"))
      ORDER BY due, database_id, number LIMIT $3
      """,
      [
        .integer(route.rawValue), .integer(timestamp.milliseconds), .integer(Int64(limit)),
        .integer(lease.holder),
      ], Delivery.ID.init(row:))
  }

  /// Takes those of one database that were due a moment ago, and still are.
  mutating func take(_ ids: [Delivery.ID], in session: StoreSession) throws {
    let rows = try ids.compactMap { id in
      try session.connection.first(
        """
        SELECT \(Row.columns) FROM deliveries
        WHERE database_id = $1 AND number = $2 AND state = 0 AND route = $3 AND due <= $4
          AND \(Self.isAvailable(to: "$5"))\(passesOver(in: session))
        """,
        [
          .integer(id.database.rawValue), .integer(id.number), .integer(route.rawValue),
          .integer(timestamp.milliseconds), .integer(lease.holder),
        ], Row.init)
    }
    try take(rows, in: session)
  }

  private mutating func take(_ rows: [Row], in session: StoreSession) throws {
    for row in rows {
      if let newer = try newer(than: row, in: session) {
        try merge(row, into: newer, in: session)
      } else {
        try lease(row, in: session)
      }
    }
  }

  /// The number of the newest one for the same device that says all that this one says; nil when this
  /// is the newest.
  private mutating func newer(than row: Row, in session: StoreSession) throws -> Int64? {
    guard let key = row.mergeKey else { return nil }
    if mergesHarder, key.hasPrefix(DeliveryMergeKey.silentPrefix) {
      let newest = try newestSilent(for: row, in: session)
      return newest > row.id.number ? newest : nil
    }
    return try session.connection.first(
      """
      SELECT number FROM deliveries
      WHERE state = 0 AND device = $1 AND merge_key = $2 AND database_id = $3 AND number > $4
      ORDER BY number DESC LIMIT 1
      """,
      [
        .integer(row.device), .text(key), .integer(row.id.database.rawValue),
        .integer(row.id.number),
      ]
    ) { $0.integer(0) }
  }

  private mutating func newestSilent(for row: Row, in session: StoreSession) throws -> Int64 {
    let reader = Reader(device: row.device, database: row.id.database)
    if let known = newestSilent[reader] { return known }
    let prefix = DeliveryMergeKey.silentPrefix
    let newest = try session.connection.first(
      """
      SELECT MAX(number) FROM deliveries
      WHERE state = 0 AND device = $1 AND merge_key >= $2 AND merge_key < $3 AND database_id = $4
      """,
      [
        // What comes after all that begin with an s.
        .integer(row.device), .text(prefix), .text("t"), .integer(row.id.database.rawValue),
      ]
    ) { $0.optionalInteger(0) }
    newestSilent[reader] = (newest ?? nil) ?? row.id.number
    return newestSilent[reader] ?? row.id.number
  }

  private mutating func merge(
    _ row: Row, into newer: Int64, in session: StoreSession
  ) throws {
    try session.connection.run(
      """
      UPDATE deliveries SET state = $3, updated = $4, merged_into = $5
      WHERE database_id = $1 AND number = $2
      """,
      [
        .integer(row.id.database.rawValue), .integer(row.id.number),
        .integer(FinalDeliveryState.merged), .integer(timestamp.milliseconds), .integer(newer),
      ])
    result.mergedCount += 1
  }

  private mutating func lease(_ row: Row, in session: StoreSession) throws {
    try session.connection.run(
      "UPDATE deliveries SET due = $3, leased_by = $4 WHERE database_id = $1 AND number = $2",
      [
        .integer(row.id.database.rawValue), .integer(row.id.number),
        .integer(lease.until.milliseconds), .integer(lease.holder),
      ])
    result.taken.append(row.id)
    if row.wasLeased { result.renewed.insert(row.id) }
  }
}
