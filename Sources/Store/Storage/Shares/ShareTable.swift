import CloudKitModel
import SQLEngine
import StoreModel

/// A share of a zone, or of a record with its descendants, without its participants.
struct StoredShare: Equatable {
  /// The number of the share's record.
  var number: Int64
  /// The number of its zone.
  var zoneNumber: Int64
  /// The number of the root record; nil for the share of a whole zone.
  var root: Int64?
  /// The permission of everyone who has the share's URL.
  var publicPermission: SharePermission
  var settings: ShareSettings
  /// The user record names of those who have requested access and have no answer yet.
  var requesters: [String] = []
  /// The user record names of those whose requests are ignored.
  var blocked: [String] = []
}

/// The shares of private databases. The record of a share is in ``RecordTable``, its participants
/// are in ``ParticipantTable``.
struct ShareTable {
  let transaction: StoreTransaction
  private var connection: any SQLConnection { transaction.connection }

  /// The table of shares, with the index by which a root or a zone finds its share.
  ///
  /// `root_number` is 0 for the share of a zone. `public_permission` is the case's place in
  /// `SharePermission.allCases`. `content` has the ``ShareSettings``.
  static let definition = [
    """
    CREATE TABLE shares (
      database_id BIGINT NOT NULL, share_number BIGINT NOT NULL, zone_number BIGINT NOT NULL,
      root_number BIGINT NOT NULL, public_permission BIGINT NOT NULL, content BYTEA NOT NULL,
      PRIMARY KEY (database_id, share_number)) /*clustered*/
    """,
    "CREATE UNIQUE INDEX shares_by_root ON shares (database_id, zone_number, root_number)",
  ]

  /// The columns of a share, in the order in which ``share(_:)`` reads them.
  private static let columns = "share_number, zone_number, root_number, public_permission, content"

  // MARK: Reading

  /// Returns the share with this record; nil if the record is no share.
  func share(_ number: Int64, in database: DatabaseID) throws -> StoredShare? {
    try shareWithoutRequests(number, in: database).map { try withRequests($0, in: database) }
  }

  /// Returns the share with this record, without its requesters and blocked users; nil if the record
  /// is no share.
  func shareWithoutRequests(_ number: Int64, in database: DatabaseID) throws -> StoredShare? {
    try connection.first(
      "SELECT \(Self.columns) FROM shares WHERE database_id = $1 AND share_number = $2",
      [.integer(database.rawValue), .integer(number)], share)
  }

  /// Returns the share of a root; nil if the root is not shared.
  ///
  /// - Parameter root: the number of the root record; nil for the zone as a whole.
  func share(
    ofRoot root: Int64?, inZone zone: Int64, of database: DatabaseID
  ) throws -> StoredShare? {
    try connection.first(
      """
      SELECT \(Self.columns) FROM shares
      WHERE database_id = $1 AND zone_number = $2 AND root_number = $3
      """, [.integer(database.rawValue), .integer(zone), .integer(root ?? 0)], share
    ).map { try withRequests($0, in: database) }
  }

  /// Returns the number of the share of a root; nil if the root is not shared.
  ///
  /// - Parameter root: the number of the root record; nil for the zone as a whole.
  func number(ofRoot root: Int64?, inZone zone: Int64, of database: DatabaseID) throws -> Int64? {
    try connection.first(
      """
      SELECT share_number FROM shares
      WHERE database_id = $1 AND zone_number = $2 AND root_number = $3
      """, [.integer(database.rawValue), .integer(zone), .integer(root ?? 0)]
    ) { $0.integer(0) }
  }

  /// Whether a database has any share.
  func hasAny(in database: DatabaseID) throws -> Bool {
    try connection.first(
      "SELECT 1 FROM shares WHERE database_id = $1 LIMIT 1", [.integer(database.rawValue)]
    ) { _ in true } ?? false
  }

  /// Whether a record is the root of a share.
  func isRoot(_ record: Int64, inZone zone: Int64, of database: DatabaseID) throws -> Bool {
    try connection.first(
      "SELECT 1 FROM shares WHERE database_id = $1 AND zone_number = $2 AND root_number = $3",
      [.integer(database.rawValue), .integer(zone), .integer(record)]
    ) { _ in true } ?? false
  }

  /// Returns a share with its requesters and blocked users.
  private func withRequests(_ share: StoredShare, in database: DatabaseID) throws -> StoredShare {
    var share = share
    (share.requesters, share.blocked) = try ShareRequestTable(transaction: transaction).users(
      of: share.number, in: database)
    return share
  }

  /// Returns the roots of all shares of a zone, in the order of their numbers; nil is the zone.
  func roots(inZone zone: Int64, of database: DatabaseID) throws -> [Int64?] {
    try connection.rows(
      """
      SELECT root_number FROM shares WHERE database_id = $1 AND zone_number = $2
      ORDER BY root_number
      """, [.integer(database.rawValue), .integer(zone)]
    ) { $0.integer(0) == 0 ? nil : $0.integer(0) }
  }

  /// Returns the places of shares after a place, in the order of databases and numbers.
  ///
  /// - Parameters:
  ///   - database: the database of the shares; nil for all databases.
  ///   - limit: the most places to return.
  func places(
    in database: DatabaseID?, after place: ShareSummary.Place, limit: Int
  ) throws -> [ShareSummary.Place] {
    guard let database else {
      return try connection.rows(
        """
        SELECT database_id, share_number FROM shares WHERE (database_id, share_number) > ($1, $2)
        ORDER BY database_id, share_number LIMIT $3
        """,
        [.integer(place.database.rawValue), .integer(place.number), .integer(Int64(limit))]
      ) { ShareSummary.Place(database: DatabaseID(rawValue: $0.integer(0)), number: $0.integer(1)) }
    }
    return try connection.rows(
      """
      SELECT share_number FROM shares WHERE database_id = $1 AND share_number > $2
      ORDER BY share_number LIMIT $3
      """, [.integer(database.rawValue), .integer(place.number), .integer(Int64(limit))]
    ) { ShareSummary.Place(database: database, number: $0.integer(0)) }
  }

  /// Returns the number of shares in all databases.
  func count() throws -> Int {
    try connection.first("SELECT COUNT(*) FROM shares", []) { Int($0.integer(0)) } ?? 0
  }

  /// Reads the columns of a share.
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

  /// Saves a share, and replaces the one with its number.
  func save(_ share: StoredShare, in database: DatabaseID) throws {
    try connection.run(
      """
      INSERT INTO shares (database_id, share_number, zone_number, root_number, public_permission,
        content)
      VALUES ($1, $2, $3, $4, $5, $6)
      ON CONFLICT (database_id, share_number) DO UPDATE
      SET public_permission = excluded.public_permission, content = excluded.content
      """,
      [
        .integer(database.rawValue), .integer(share.number), .integer(share.zoneNumber),
        .integer(share.root ?? 0), .integer(Self.code(of: share.publicPermission)),
        .bytes(share.settings.row(reserving: 64)),
      ])
    try ShareRequestTable(transaction: transaction).save(
      requesters: share.requesters, blocked: share.blocked, of: share.number, in: database)
  }

  /// Returns the number that stands for a permission in the tables of shares.
  static func code(of permission: SharePermission) -> Int64 {
    Int64(SharePermission.allCases.firstIndex(of: permission) ?? 0)
  }

  /// Removes a share whose record is deleted.
  func remove(_ number: Int64, of database: DatabaseID) throws {
    try ShareRequestTable(transaction: transaction).removeAll(of: number, in: database)
    try connection.run(
      "DELETE FROM shares WHERE database_id = $1 AND share_number = $2",
      [.integer(database.rawValue), .integer(number)])
  }

  /// Removes the shares of a zone that is deleted.
  func removeAll(inZone zone: Int64, of database: DatabaseID) throws {
    let shares = try connection.rows(
      "SELECT share_number FROM shares WHERE database_id = $1 AND zone_number = $2",
      [.integer(database.rawValue), .integer(zone)]
    ) { $0.integer(0) }
    for share in shares {
      try ShareRequestTable(transaction: transaction).removeAll(of: share, in: database)
    }
    try connection.run(
      "DELETE FROM shares WHERE database_id = $1 AND zone_number = $2",
      [.integer(database.rawValue), .integer(zone)])
  }
}
