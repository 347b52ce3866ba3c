import CloudKitModel
import SQLEngine
import StoreModel

/// The zones of databases, by their numbers. A zone that is deleted and created again has another
/// number: the number is the zone's incarnation.
///
/// A zone's `version` is the number of its last change. Numbers come from the database's sequence,
/// so a version is unique in the database and rises with each commit in the zone.
struct ZoneTable {
  let transaction: StoreTransaction
  private var connection: any SQLConnection { transaction.connection }

  /// `version` is the version of the zone's last change. `trimmed_version` is the version of the
  /// newest deletion that was forgotten; 0 if there is none.
  static let definition = [
    """
    CREATE TABLE zones (
      database_id BIGINT NOT NULL, zone_number BIGINT NOT NULL, zone_name TEXT NOT NULL,
      owner_name TEXT NOT NULL, version BIGINT NOT NULL,
      trimmed_version BIGINT NOT NULL DEFAULT 0,
      PRIMARY KEY (database_id, zone_number), UNIQUE (database_id, zone_name, owner_name))
    """
  ]

  /// The versions of a zone.
  struct State {
    /// The zone's number, its incarnation.
    var number: Int64
    var version: Int64
    /// The version of the newest deletion in the zone that was forgotten.
    var trimmedVersion: Int64
  }

  // MARK: Looking up

  /// The number of a zone; nil if there is none of this name.
  func number(of zoneID: ZoneID, in database: DatabaseID) throws -> Int64? {
    try connection.first(
      """
      SELECT zone_number FROM zones
      WHERE database_id = $1 AND zone_name = $2 AND owner_name = $3
      """,
      [.integer(database.rawValue), .text(zoneID.zoneName), .text(zoneID.ownerName)]
    ) { $0.integer(0) }
  }

  /// The number of a zone that must exist. The owner's own record name may stand for the owner.
  ///
  /// - Throws: ``ItemFailure`` with ``ItemFailure/Code/zoneNotFound``.
  func existingNumber(of zoneID: ZoneID, in database: DatabaseID) throws -> Int64 {
    let canonical = try DatabaseTable(transaction: transaction).address(of: database).canonical(
      zoneID)
    guard let number = try number(of: canonical, in: database) else {
      throw ItemFailure(.zoneNotFound, "there is no zone '\(zoneID)'; create it first")
    }
    return number
  }

  /// Whether there is a zone besides the default zone.
  ///
  /// - Complexity: O(1): it reads at most two rows.
  func hasSeveral(in database: DatabaseID) throws -> Bool {
    try connection.rows(
      "SELECT 1 FROM zones WHERE database_id = $1 LIMIT 2", [.integer(database.rawValue)]
    ) { _ in true }.count > 1
  }

  /// The zone with a number.
  ///
  /// The connection's ``Catalog`` caches up to 50,000 zones; a full cache is emptied.
  ///
  /// - Throws: ``StoreError/Code/corrupt`` if there is no such zone: the number comes from a row of
  ///   the store.
  func id(of number: Int64, in database: DatabaseID) throws -> ZoneID {
    let key = Catalog.ZoneKey(database: database, number: number)
    if let known = transaction.catalog.zoneIDs[key] { return known }
    let zoneID = try connection.first(
      "SELECT zone_name, owner_name FROM zones WHERE database_id = $1 AND zone_number = $2",
      [.integer(database.rawValue), .integer(number)]
    ) { ZoneID(zoneName: $0.text(0), ownerName: $0.text(1)) }
    guard let zoneID else {
      throw StoreError(
        .corrupt, "database \(database.rawValue) has records in a zone that does not exist")
    }
    if transaction.catalog.zoneIDs.count >= 50_000 { transaction.catalog.zoneIDs = [:] }
    transaction.catalog.zoneIDs[key] = zoneID
    return zoneID
  }

  /// The number and the versions of a zone, for its change feed; nil if there is none.
  func state(of zoneID: ZoneID, in database: DatabaseID) throws -> State? {
    try connection.first(
      """
      SELECT zone_number, version, trimmed_version FROM zones
      WHERE database_id = $1 AND zone_name = $2 AND owner_name = $3
      """,
      [.integer(database.rawValue), .text(zoneID.zoneName), .text(zoneID.ownerName)]
    ) { State(number: $0.integer(0), version: $0.integer(1), trimmedVersion: $0.integer(2)) }
  }

  /// A zone with its change token; nil if there is none.
  func zone(_ zoneID: ZoneID, in database: DatabaseID) throws -> Zone? {
    try connection.first(
      """
      SELECT zone_number, version FROM zones
      WHERE database_id = $1 AND zone_name = $2 AND owner_name = $3
      """,
      [.integer(database.rawValue), .text(zoneID.zoneName), .text(zoneID.ownerName)]
    ) {
      try Zone(
        zoneID: zoneID, number: $0.integer(0), version: $0.integer(1), in: database,
        tokens: transaction.context.tokens)
    }
  }

  /// All zones of a database, the default zone first.
  func zones(in database: DatabaseID) throws -> [Zone] {
    try connection.rows(
      """
      SELECT zone_name, owner_name, zone_number, version FROM zones WHERE database_id = $1
      ORDER BY CASE WHEN zone_name = $2 THEN 0 ELSE 1 END, zone_name, owner_name
      """, [.integer(database.rawValue), .text(ZoneID.defaultZoneName)]
    ) {
      try Zone(
        zoneID: ZoneID(zoneName: $0.text(0), ownerName: $0.text(1)), number: $0.integer(2),
        version: $0.integer(3), in: database, tokens: transaction.context.tokens)
    }
  }

  /// The number of zones in a database, the default zone included.
  func count(in database: DatabaseID) throws -> Int? {
    try connection.first(
      "SELECT COUNT(*) FROM zones WHERE database_id = $1", [.integer(database.rawValue)]
    ) { Int($0.integer(0)) }
  }

  /// The zones, except the default zone, that changed after a version, in the order of their last
  /// changes.
  func changed(
    in database: DatabaseID, after version: Int64, limit: Int
  ) throws -> [(zoneID: ZoneID, version: Int64)] {
    // A database has few zones, so there is no index by version.
    try connection.rows(
      """
      SELECT zone_name, owner_name, version FROM zones
      WHERE database_id = $1 AND version > $2 AND zone_name <> '_defaultZone'
      ORDER BY version LIMIT $3
      """, [.integer(database.rawValue), .integer(version), .integer(Int64(limit))]
    ) { (ZoneID(zoneName: $0.text(0), ownerName: $0.text(1)), $0.integer(2)) }
  }

  /// The numbers of the zones that changed after a version.
  func numbers(changedAfter version: Int64, in database: DatabaseID) throws -> [Int64] {
    try connection.rows(
      "SELECT zone_number FROM zones WHERE database_id = $1 AND version > $2",
      [.integer(database.rawValue), .integer(version)]
    ) { $0.integer(0) }
  }

  // MARK: Writing

  /// Creates a zone.
  ///
  /// Its first version equals its number.
  @discardableResult
  func add(
    _ zoneID: ZoneID, in database: DatabaseID, numbers: inout NumberSupply
  ) throws -> Zone {
    let number = try numbers.take(from: transaction)
    try connection.run(
      """
      INSERT INTO zones (database_id, zone_number, zone_name, owner_name, version)
      VALUES ($1, $2, $3, $4, $2)
      """,
      [
        .integer(database.rawValue), .integer(number), .text(zoneID.zoneName),
        .text(zoneID.ownerName),
      ])
    return try Zone(
      zoneID: zoneID, number: number, version: number, in: database,
      tokens: transaction.context.tokens)
  }

  /// Sets zones' versions to those of their latest changes.
  ///
  /// The writer gathers the versions of a transaction's changes and writes each zone once
  /// (``GatheredWrites``). The rows are written by `runLater`, so a failure may appear as late as
  /// the commit.
  func raiseVersions(_ versions: [Catalog.ZoneKey: Int64]) throws {
    for (zone, version) in versions {
      try connection.runLater(
        "UPDATE zones SET version = $3 WHERE database_id = $1 AND zone_number = $2",
        [.integer(zone.database.rawValue), .integer(zone.number), .integer(version)])
    }
  }

  /// Records that the deletions in a zone up to a version are forgotten. The version never falls.
  /// Change tokens from before it have expired.
  func note(trimmedVersion version: Int64, ofZone number: Int64, in database: DatabaseID) throws {
    try connection.run(
      """
      UPDATE zones SET trimmed_version = $3
      WHERE database_id = $1 AND zone_number = $2 AND trimmed_version < $3
      """, [.integer(database.rawValue), .integer(number), .integer(version)])
  }

  /// Removes an empty zone. The caller has deleted its contents.
  func remove(_ number: Int64, in database: DatabaseID) throws {
    try connection.run(
      "DELETE FROM zones WHERE database_id = $1 AND zone_number = $2",
      [.integer(database.rawValue), .integer(number)])
    transaction.catalog.zoneIDs[Catalog.ZoneKey(database: database, number: number)] = nil
  }
}

extension Zone {
  /// Creates a zone for a client. The change token is that of a reader who has read everything up
  /// to `version`. The default zone has no feed and no token.
  fileprivate init(
    zoneID: ZoneID, number: Int64, version: Int64, in database: DatabaseID, tokens: TokenCipher
  ) throws {
    self.init(zoneID: zoneID, version: version)
    guard !zoneID.isDefaultZone else { return }
    var token = ChangeToken(beginningOf: .zone(number), in: database, at: version)
    token.position = version
    changeToken = try token.text(sealedBy: tokens)
  }
}
