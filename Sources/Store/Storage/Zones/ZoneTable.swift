import CloudKitModel
import SQLEngine
import StoreModel

/// The zones of databases, by their numbers. A zone that is deleted and created again gets another
/// number.
///
/// `version` is the number of the last change in the zone, from the database's sequence
/// (``DatabaseTable/nextNumber(of:)``), so it rises with each commit in the zone.
struct ZoneTable: Table {
  let transaction: StoreTransaction

  /// `trimmed_version` is the version of the newest tombstone of a record (``TombstoneTable``)
  /// that retention has deleted; 0 for none.
  static let definition = [
    """
    CREATE TABLE zones (
      database_id BIGINT NOT NULL, zone_number BIGINT NOT NULL, zone_name TEXT NOT NULL,
      owner_name TEXT NOT NULL, version BIGINT NOT NULL,
      trimmed_version BIGINT NOT NULL DEFAULT 0,
      PRIMARY KEY (database_id, zone_number), UNIQUE (database_id, zone_name, owner_name))
    """
  ]

  /// A row of the table.
  struct State {
    var number: Int64
    var version: Int64
    var trimmedVersion: Int64
  }

  // MARK: Looking up

  /// Returns nil if there is no such zone. A transaction that writes looks a zone up once.
  func number(of zoneID: ZoneID, in database: DatabaseID) throws -> Int64? {
    if database == .vacant { return try vacantState(of: zoneID)?.number }
    let place = WriteSet.ZonePlace(zoneID: zoneID, database: database)
    if let known = transaction.writes.zoneNumbers[place] { return known }
    let number = try transaction.besidesWriteSet {
      try connection.integer(
        sql.number, [.id(database), .text(zoneID.zoneName), .text(zoneID.ownerName)])
    }
    if transaction.isWriting { transaction.writes.zoneNumbers[place] = .some(number) }
    return number
  }

  /// The zone ID may have the owner's user record name.
  ///
  /// - Throws: ``ItemFailure`` with ``ItemFailure/Code/zoneNotFound`` if there is no such zone,
  ///   ``StoreError/Code/notFound`` if there is no such database.
  func existingNumber(of zoneID: ZoneID, in database: DatabaseID) throws -> Int64 {
    let address = try DatabaseTable(transaction: transaction).address(of: database)
    // The rows of a shared database are mounts; its zones are those of their owners.
    guard address.scope != .shared,
      let number = try number(of: address.canonical(zoneID), in: database)
    else {
      throw address.missing(zoneID, "create it first")
    }
    return number
  }

  func hasSeveral(in database: DatabaseID) throws -> Bool {
    try connection.rows(sql.several, [.id(database)]) { _ in true }.count > 1
  }

  /// The connection's ``Catalog`` caches up to 50,000 zone IDs. A full cache is emptied.
  ///
  /// - Throws: ``StoreError/Code/corrupt`` if there is no such zone: callers pass numbers from
  ///   other rows.
  func id(of number: Int64, in database: DatabaseID) throws -> ZoneID {
    let key = Catalog.ZoneKey(database: database, number: number)
    if let known = transaction.catalog.zoneIDs[key] { return known }
    let zoneID = try connection.first(
      sql.id, [.id(database), .integer(number)]
    ) { ZoneID(zoneName: $0.text(0), ownerName: $0.text(1)) }
    guard let zoneID else {
      throw StoreError(
        .corrupt, "database \(database.rawValue) has records in a zone that does not exist")
    }
    if transaction.catalog.zoneIDs.count >= 50_000 { transaction.catalog.zoneIDs = [:] }
    transaction.catalog.zoneIDs[key] = zoneID
    return zoneID
  }

  func state(of zoneID: ZoneID, in database: DatabaseID) throws -> State? {
    if database == .vacant { return try vacantState(of: zoneID) }
    return try connection.first(
      sql.state, [.id(database), .text(zoneID.zoneName), .text(zoneID.ownerName)]
    ) { State(number: $0.integer(0), version: $0.integer(1), trimmedVersion: $0.integer(2)) }
  }

  func zone(_ zoneID: ZoneID, in database: DatabaseID) throws -> Zone? {
    try connection.first(
      sql.zone, [.id(database), .text(zoneID.zoneName), .text(zoneID.ownerName)]
    ) {
      try Zone(
        zoneID: zoneID, number: $0.integer(0), version: $0.integer(1), isShared: !$0.isNull(2),
        in: database, tokens: transaction.context.tokens)
    }
  }

  func zones(in database: DatabaseID) throws -> [Zone] {
    if let state = database == .vacant ? try vacantState(of: .default) : nil {
      return [
        try Zone(
          zoneID: .default, number: state.number, version: state.version, in: database,
          tokens: transaction.context.tokens)
      ]
    }
    return try connection.rows(sql.zones, [.id(database), .text(ZoneID.defaultZoneName)]) {
      try Zone(
        zoneID: ZoneID(zoneName: $0.text(0), ownerName: $0.text(1)), number: $0.integer(2),
        version: $0.integer(3), isShared: !$0.isNull(4), in: database,
        tokens: transaction.context.tokens)
    }
  }

  func count(in database: DatabaseID) throws -> Int? {
    try connection.first(sql.count, [.id(database)]) { $0.count(0) }
  }

  /// Returns zones in the order of their last changes, without the default zone.
  func changed(
    in database: DatabaseID, after version: Int64, limit: Int
  ) throws -> [(zoneID: ZoneID, version: Int64)] {
    // A database has few zones, so there is no index by version.
    try connection.rows(sql.changed, [.id(database), .integer(version), .count(limit)]) {
      (ZoneID(zoneName: $0.text(0), ownerName: $0.text(1)), $0.integer(2))
    }
  }

  func numbers(changedAfter version: Int64, in database: DatabaseID) throws -> [Int64] {
    try connection.integers(sql.changedNumbers, [.id(database), .integer(version)])
  }

  /// The state at the creation of the database: a private and a public one then have a default
  /// zone.
  private func vacantState(of zoneID: ZoneID) throws -> State? {
    let address = try DatabaseTable(transaction: transaction).address(of: .vacant)
    guard zoneID == .default, address.scope != .shared else { return nil }
    return State(
      number: DatabaseTable.firstNumber, version: DatabaseTable.firstNumber, trimmedVersion: 0)
  }

  // MARK: Writing

  /// The first version equals the number.
  @discardableResult
  func add(_ zoneID: ZoneID, in database: DatabaseID) throws -> Zone {
    let number = try DatabaseTable(transaction: transaction).nextNumber(of: database)
    try decide(
      sql.add, [.id(database), .integer(number), .text(zoneID.zoneName), .text(zoneID.ownerName)])
    return try Zone(
      zoneID: zoneID, number: number, version: number, in: database,
      tokens: transaction.context.tokens)
  }

  func raise(_ version: Int64, of number: Int64, in database: DatabaseID) {
    transaction.writes.zoneVersions.decide(
      version, for: Catalog.ZoneKey(database: database, number: number))
  }

  func writeDecided() throws {
    var rows = RowInsertion(sql.versions)
    for (zone, _, version) in transaction.writes.zoneVersions.takeChanges() {
      guard let version else { continue }
      try rows.add(in: connection) {
        $0.append(zone.database.rawValue, zone.number)
        $0.append(version)
      }
    }
    try rows.finish(in: connection)
  }

  /// A lower version than the present one changes nothing.
  func note(trimmedVersion version: Int64, ofZone number: Int64, in database: DatabaseID) throws {
    try decide(sql.noteTrimmed, [.id(database), .integer(number), .integer(version)])
  }

  /// The caller must have deleted the contents.
  func remove(_ number: Int64, in database: DatabaseID) throws {
    try decide(sql.remove, [.id(database), .integer(number)])
  }

  struct Statements {
    let number: Statement =
      "SELECT zone_number FROM zones WHERE database_id = $1 AND zone_name = $2 AND owner_name = $3"
    let several: Statement = "SELECT 1 FROM zones WHERE database_id = $1 LIMIT 2"
    let id: Statement =
      "SELECT zone_name, owner_name FROM zones WHERE database_id = $1 AND zone_number = $2"
    let state: Statement = """
      SELECT zone_number, version, trimmed_version FROM zones
      WHERE database_id = $1 AND zone_name = $2 AND owner_name = $3
      """
    let zone: Statement = """
      SELECT zones.zone_number, zones.version, shares.share_number FROM zones
      LEFT JOIN shares ON shares.database_id = zones.database_id
        AND shares.zone_number = zones.zone_number AND shares.root_number = 0
      WHERE zones.database_id = $1 AND zones.zone_name = $2 AND zones.owner_name = $3
      """
    let zones: Statement = """
      SELECT zones.zone_name, zones.owner_name, zones.zone_number, zones.version,
        shares.share_number FROM zones
      LEFT JOIN shares ON shares.database_id = zones.database_id
        AND shares.zone_number = zones.zone_number AND shares.root_number = 0
      WHERE zones.database_id = $1
      ORDER BY CASE WHEN zones.zone_name = $2 THEN 0 ELSE 1 END, zones.zone_name,
        zones.owner_name
      """
    let count: Statement = "SELECT COUNT(*) FROM zones WHERE database_id = $1"
    let changed: Statement = """
      SELECT zone_name, owner_name, version FROM zones
      WHERE database_id = $1 AND version > $2 AND zone_name <> '_defaultZone'
      ORDER BY version LIMIT $3
      """
    let changedNumbers: Statement =
      "SELECT zone_number FROM zones WHERE database_id = $1 AND version > $2"
    let add: Statement = """
      INSERT INTO zones (database_id, zone_number, zone_name, owner_name, version)
      VALUES ($1, $2, $3, $4, $2)
      """
    let versions = RowStatement(
      "UPDATE zones SET version = $3 WHERE database_id = $1 AND zone_number = $2",
      [.integer, .integer, .integer]
    ) { "UPDATE zones SET version = c3 FROM \($0) WHERE database_id = c1 AND zone_number = c2" }
    let noteTrimmed: Statement = """
      UPDATE zones SET trimmed_version = $3
      WHERE database_id = $1 AND zone_number = $2 AND trimmed_version < $3
      """
    let remove: Statement = "DELETE FROM zones WHERE database_id = $1 AND zone_number = $2"
  }
  static let sql = Statements()
}

extension Zone {
  /// The change token is that of a reader who has read all changes up to `version`. The default
  /// zone gets none.
  fileprivate init(
    zoneID: ZoneID, number: Int64, version: Int64, isShared: Bool = false,
    in database: DatabaseID, tokens: TokenCipher
  ) throws {
    self.init(zoneID: zoneID, version: version, isShared: isShared)
    guard !zoneID.isDefaultZone else { return }
    var token = ChangeToken(beginningOf: .zone(number), in: database, at: version)
    token.position = version
    changeToken = try token.text(sealedBy: tokens)
  }
}
