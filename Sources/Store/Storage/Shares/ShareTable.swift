import CloudKitModel
import SQLEngine
import StoreModel

/// A share without its participants.
struct StoredShare: Equatable {
  var number: Int64
  var zoneNumber: Int64
  var root: Int64?
  var publicPermission: SharePermission
  var settings: ShareSettings
  var requesters: [String] = []
  var blocked: [String] = []
}

/// The shares of private databases. The record of a share is in ``RecordTable``, its participants
/// are in ``ParticipantTable``.
struct ShareTable: Table {
  let transaction: StoreTransaction

  /// The index finds the share of a root or a zone. `root_number` is 0 for a zone.
  /// `public_permission` is the case's place in `SharePermission.allCases`. `content` has the
  /// ``ShareSettings``.
  static let definition = [
    """
    CREATE TABLE shares (
      database_id BIGINT NOT NULL, share_number BIGINT NOT NULL, zone_number BIGINT NOT NULL,
      root_number BIGINT NOT NULL, public_permission BIGINT NOT NULL, content BYTEA NOT NULL,
      PRIMARY KEY (database_id, share_number)) /*clustered*/
    """,
    "CREATE UNIQUE INDEX shares_by_root ON shares (database_id, zone_number, root_number)",
  ]

  private static let columns = "share_number, zone_number, root_number, public_permission, content"

  // MARK: Reading

  func share(_ number: Int64, in database: DatabaseID) throws -> StoredShare? {
    try shareWithoutRequests(number, in: database).map { try withRequests($0, in: database) }
  }

  func shareWithoutRequests(_ number: Int64, in database: DatabaseID) throws -> StoredShare? {
    try connection.first(sql.share, [.id(database), .integer(number)], share)
  }

  func share(
    ofRoot root: Int64?, inZone zone: Int64, of database: DatabaseID
  ) throws -> StoredShare? {
    try connection.first(
      sql.ofRoot, [.id(database), .integer(zone), .integer(root ?? 0)], share
    ).map { try withRequests($0, in: database) }
  }

  /// A root of nil is the zone as a whole.
  func number(ofRoot root: Int64?, inZone zone: Int64, of database: DatabaseID) throws -> Int64? {
    try connection.integer(sql.number, [.id(database), .integer(zone), .integer(root ?? 0)])
  }

  func hasAny(in database: DatabaseID) throws -> Bool {
    try connection.exists(sql.any, [.id(database)])
  }

  func isRoot(_ record: Int64, inZone zone: Int64, of database: DatabaseID) throws -> Bool {
    try connection.exists(sql.isRoot, [.id(database), .integer(zone), .integer(record)])
  }

  private func withRequests(_ share: StoredShare, in database: DatabaseID) throws -> StoredShare {
    var share = share
    (share.requesters, share.blocked) = try ShareRequestTable(transaction: transaction).users(
      of: share.number, in: database)
    return share
  }

  func roots(inZone zone: Int64, of database: DatabaseID) throws -> [Int64?] {
    try connection.rows(
      sql.roots, [.id(database), .integer(zone)]
    ) { $0.integer(0) == 0 ? nil : $0.integer(0) }
  }

  func places(
    in database: DatabaseID?, after place: ShareSummary.Place, limit: Int
  ) throws -> [ShareSummary.Place] {
    guard let database else {
      return try connection.rows(
        sql.placesAnywhere, [.id(place.database), .integer(place.number), .count(limit)]
      ) { ShareSummary.Place(database: $0.database(0), number: $0.integer(1)) }
    }
    return try connection.rows(
      sql.places, [.id(database), .integer(place.number), .count(limit)]
    ) { ShareSummary.Place(database: database, number: $0.integer(0)) }
  }

  func count() throws -> Int {
    try connection.count(sql.count, [])
  }

  private func share(_ row: any SQLRow) throws -> StoredShare {
    let number = row.integer(0)
    let permissions = SharePermission.allCases
    let place = Int(row.integer(3))
    guard permissions.indices.contains(place) else {
      throw StoreError(.corrupt, "share \(number) has the unknown permission \(place)")
    }
    return StoredShare(
      number: number, zoneNumber: row.integer(1),
      root: row.integer(2) == 0 ? nil : row.integer(2), publicPermission: permissions[place],
      settings: try ShareSettings(row: row.bytes(4)))
  }

  // MARK: Writing

  func save(_ share: StoredShare, in database: DatabaseID) throws {
    try decide(
      sql.save,
      [
        .id(database), .integer(share.number), .integer(share.zoneNumber),
        .integer(share.root ?? 0), .integer(Self.code(of: share.publicPermission)),
        .bytes(share.settings.row(reserving: 64)),
      ])
    try ShareRequestTable(transaction: transaction).save(
      requesters: share.requesters, blocked: share.blocked, of: share.number, in: database)
  }

  static func code(of permission: SharePermission) -> Int64 {
    Int64(SharePermission.allCases.firstIndex(of: permission) ?? 0)
  }

  func remove(_ number: Int64, of database: DatabaseID) throws {
    try ShareRequestTable(transaction: transaction).removeAll(of: number, in: database)
    try decide(sql.remove, [.id(database), .integer(number)])
  }

  func removeAll(inZone zone: Int64, of database: DatabaseID) throws {
    let shares = try connection.integers(sql.inZone, [.id(database), .integer(zone)])
    for share in shares {
      try ShareRequestTable(transaction: transaction).removeAll(of: share, in: database)
    }
    try decide(sql.removeAll, [.id(database), .integer(zone)])
  }

  struct Statements {
    let share: Statement =
      "SELECT \(ShareTable.columns) FROM shares WHERE database_id = $1 AND share_number = $2"
    let ofRoot: Statement = """
      SELECT \(ShareTable.columns) FROM shares
      WHERE database_id = $1 AND zone_number = $2 AND root_number = $3
      """
    let number: Statement = """
      SELECT share_number FROM shares
      WHERE database_id = $1 AND zone_number = $2 AND root_number = $3
      """
    let any: Statement = "SELECT 1 FROM shares WHERE database_id = $1 LIMIT 1"
    let isRoot: Statement =
      "SELECT 1 FROM shares WHERE database_id = $1 AND zone_number = $2 AND root_number = $3"
    let roots: Statement = """
      SELECT root_number FROM shares WHERE database_id = $1 AND zone_number = $2
      ORDER BY root_number
      """
    let placesAnywhere = """
      SELECT database_id, share_number FROM shares WHERE (database_id, share_number) > ($1, $2)
      ORDER BY database_id, share_number LIMIT $3
      """.except(.everyDatabase)
    let places: Statement = """
      SELECT share_number FROM shares WHERE database_id = $1 AND share_number > $2
      ORDER BY share_number LIMIT $3
      """
    let count = "SELECT COUNT(*) FROM shares".except([.everyDatabase, .wholeTable])
    let save: Statement = """
      INSERT INTO shares (database_id, share_number, zone_number, root_number, public_permission,
        content)
      VALUES ($1, $2, $3, $4, $5, $6)
      ON CONFLICT (database_id, share_number) DO UPDATE
      SET public_permission = excluded.public_permission, content = excluded.content
      """
    let remove: Statement = "DELETE FROM shares WHERE database_id = $1 AND share_number = $2"
    let inZone: Statement =
      "SELECT share_number FROM shares WHERE database_id = $1 AND zone_number = $2"
    let removeAll: Statement = "DELETE FROM shares WHERE database_id = $1 AND zone_number = $2"
  }
  static let sql = Statements()
}
