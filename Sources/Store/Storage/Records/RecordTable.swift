import CloudKitModel
import SQLEngine
import StoreModel

/// The records of all databases, in the order of their numbers.
///
/// A record's number is that of the change that created it. It identifies the record in the value
/// index (``ValueIndexTable``), never changes, and is never reused in the database.
struct RecordTable: Table {
  let transaction: StoreTransaction

  /// `version` is the number of the latest change. `content` has the encoded record without its
  /// name, zone, type and change tag (``RowEncoder/encodeContent(of:)``).
  static let definition = [
    """
    CREATE TABLE records (
      database_id BIGINT NOT NULL, record_number BIGINT NOT NULL, zone_number BIGINT NOT NULL,
      record_name TEXT NOT NULL, type_number BIGINT NOT NULL, version BIGINT NOT NULL,
      content BYTEA NOT NULL, PRIMARY KEY (database_id, record_number)) /*clustered*/
    """,
    """
    CREATE UNIQUE INDEX records_by_name ON records (database_id, zone_number, record_name)
    """,
    // Change feeds read a zone by this index. It contains the record type, so a feed of certain
    // types skips other records without reading them.
    """
    CREATE INDEX records_by_version
    ON records (database_id, zone_number, version, type_number)
    """,
  ]

  // MARK: Reading

  func record(_ row: StoredRecord.Row, in database: DatabaseID) throws -> StoredRecord {
    let recordID = RecordID(
      recordName: row.recordName,
      zoneID: try ZoneTable(transaction: transaction).id(of: row.zoneNumber, in: database))
    var record = Record(
      recordID: recordID,
      recordType: try RecordTypeTable(transaction: transaction).name(ofType: row.typeNumber),
      recordChangeTag: transaction.context.changeTags.tag(ofVersion: row.version, in: database))
    var decoder = try RowDecoder(row.content, of: "record", named: row.recordName)
    try decoder.decodeContent(into: &record)
    try decoder.finish()
    if record.recordType == ShareContent.recordType {
      record.shareContent = try ShareTable(transaction: transaction).content(
        of: row.number, in: database)
      record.share = Reference(recordName: row.recordName)
    }
    return StoredRecord(
      number: row.number, zoneNumber: row.zoneNumber, record: record, typeNumber: row.typeNumber,
      version: row.version, contentSize: row.content.count)
  }

  /// - Throws: ``StoreError/Code/corrupt`` if there is none.
  func record(numbered number: Int64, in database: DatabaseID) throws -> StoredRecord {
    guard let record = try existingRecord(numbered: number, in: database) else {
      throw StoreError(.corrupt, "an index contains record \(number), which does not exist")
    }
    return record
  }

  func existingRecord(numbered number: Int64, in database: DatabaseID) throws -> StoredRecord? {
    try connection.first(
      sql.numbered, [.id(database), .integer(number)], StoredRecord.Row.init
    ).map { try record($0, in: database) }
  }

  /// Finds records whose content has a user's name by a scan of the next `count`. Returns also the
  /// last scanned record; nil if no records follow.
  func naming(
    _ user: String, after number: Int64, examining count: Int64, limit: Int64 = .max,
    in database: DatabaseID
  ) throws -> (found: [Int64], end: Int64)? {
    try transaction.rows(
      by: sql.naming, naming: user, after: number, examining: count, limit: limit,
      in: database)
  }

  func record(
    named recordName: String, inZone zoneNumber: Int64, of database: DatabaseID
  ) throws -> StoredRecord? {
    try row(named: recordName, inZone: zoneNumber, of: database).map {
      try record($0, in: database)
    }
  }

  /// A transaction that writes reads each row once (``WriteSet``).
  private func row(
    named recordName: String, inZone zoneNumber: Int64, of database: DatabaseID
  ) throws -> StoredRecord.Row? {
    let key = key(of: recordName, zoneNumber, database)
    if let known = transaction.writes.records[key] { return known.row }
    let row = try transaction.besidesWriteSet {
      try connection.first(
        sql.named, [.id(database), .integer(zoneNumber), .text(recordName)], StoredRecord.Row.init)
    }
    if transaction.isWriting { transaction.writes.records.note(row, for: key) }
    return row
  }

  /// The index alone answers for a record that was not read yet.
  func contains(
    _ recordName: String, inZone zoneNumber: Int64, of database: DatabaseID
  ) throws -> Bool {
    if let known = transaction.writes.records[key(of: recordName, zoneNumber, database)] {
      return known.row != nil
    }
    return try transaction.besidesWriteSet {
      try connection.exists(sql.exists, [.id(database), .integer(zoneNumber), .text(recordName)])
    }
  }

  func number(
    of recordName: String, inZone zoneNumber: Int64, of database: DatabaseID
  ) throws -> Int64? {
    try row(named: recordName, inZone: zoneNumber, of: database)?.number
  }

  func count(inZone zoneNumber: Int64, of database: DatabaseID, limit: Int) throws -> Int {
    try connection.count(sql.count, [.id(database), .integer(zoneNumber), .count(limit)])
  }

  func name(of number: Int64, in database: DatabaseID) throws -> String? {
    try connection.text(sql.name, [.id(database), .integer(number)])
  }

  /// Records that were created last come first (``ReferenceTable``).
  func holders(
    ofReferencesTo recordName: String, inZone zoneNumber: Int64, of database: DatabaseID
  ) throws -> [StoredRecord] {
    // The count is known more often, and is read without a write of what was decided.
    let count = try ReferenceTable(transaction: transaction).count(
      to: recordName, inZone: zoneNumber, of: database)
    guard count > 0 else { return [] }
    return try connection.rows(
      sql.holders, [.id(database), .integer(zoneNumber), .text(recordName)], StoredRecord.Row.init
    ).map { try record($0, in: database) }
  }

  func holderNames(
    ofReferencesTo recordName: String, inZone zoneNumber: Int64, of database: DatabaseID
  ) throws -> [(number: Int64, name: String)] {
    try connection.rows(
      sql.holderNames, [.id(database), .integer(zoneNumber), .text(recordName)]
    ) { ($0.integer(0), $0.text(1)) }
  }

  func records(
    inZone zoneNumber: Int64, of database: DatabaseID, after recordName: String
  ) throws -> [StoredRecord] {
    try connection.rows(
      sql.namedAfter, [.id(database), .integer(zoneNumber), .text(recordName)],
      StoredRecord.Row.init
    ).map { try record($0, in: database) }
  }

  /// The records between two versions, both exclusive, for a change feed.
  func candidates(
    inZone zone: Int64, of database: DatabaseID, above low: Int64, below high: Int64,
    ascending: Bool, limit: Int
  ) throws -> [RecordFeed.Candidate] {
    try connection.rows(
      ascending ? sql.oldest : sql.newest,
      [.id(database), .integer(zone), .integer(low), .integer(high), .count(limit)]
    ) {
      RecordFeed.Candidate(
        version: $0.integer(0), typeNumber: $0.integer(1), subject: .record(number: $0.integer(2)))
    }
  }

  func rows(
    changedAfter version: Int64, inZone zone: Int64, of database: DatabaseID, limit: Int
  ) throws -> [StoredRecord.Row] {
    try connection.rows(
      sql.changed,
      [.id(database), .integer(zone), .integer(version), .count(limit)], StoredRecord.Row.init)
  }

  func rows(
    indexedBy field: Int64, after position: TypeScan.Position, limit: Int
  ) throws -> [(row: StoredRecord.Row, key: [UInt8])] {
    try connection.rows(
      sql.indexed,
      [
        .integer(position.database), .integer(field), .bytes(position.key),
        .integer(position.number), .count(limit),
      ]
    ) { (StoredRecord.Row($0), $0.bytes(6)) }
  }

  // MARK: Writing

  /// The name, type and zone of a record never change.
  func decide(_ row: StoredRecord.Row, over current: StoredRecord?, in database: DatabaseID) {
    let key = key(of: row.recordName, row.zoneNumber, database)
    note(current, for: key)
    transaction.writes.records.decide(row, for: key)
  }

  /// Returns false if the record is deleted already.
  func remove(_ stored: StoredRecord, of database: DatabaseID) -> Bool {
    let key = key(of: stored.record.recordID.recordName, stored.zoneNumber, database)
    note(stored, for: key)
    guard transaction.writes.records[key]?.row?.number == stored.number else { return false }
    transaction.writes.records.decide(nil, for: key)
    return true
  }

  private func note(_ stored: StoredRecord?, for key: WriteSet.RecordKey) {
    guard let stored, transaction.writes.records[key] == nil else { return }
    transaction.writes.records.note(StoredRecord.Row(of: stored), for: key)
  }

  private func key(of name: String, _ zone: Int64, _ database: DatabaseID) -> WriteSet.RecordKey {
    WriteSet.RecordKey(database: database, zone: zone, name: name)
  }

  /// Deletions come first, because a new record may have the name of a deleted one.
  func writeDecided() throws {
    let changes = transaction.writes.records.takeChanges()
    var deletions = RowInsertion(sql.deletion)
    var updates = RowInsertion(sql.update)
    var insertions = RowInsertion(sql.insertion)
    for (key, stored, row) in changes {
      guard let stored, stored.number != row?.number else { continue }
      try deletions.add(in: connection) {
        $0.append(key.database.rawValue, stored.number)
      }
    }
    try deletions.finish(in: connection)
    for (key, stored, row) in changes {
      guard let row else { continue }
      if row.number == stored?.number {
        try updates.add(in: connection) {
          $0.append(key.database.rawValue, row.number)
          $0.append(row.version)
          $0.append(bytes: row.content.span.bytes)
        }
      } else {
        try insertions.add(in: connection) {
          $0.append(key.database.rawValue, row.number)
          $0.append(row.zoneNumber)
          $0.append(row.recordName)
          $0.append(row.typeNumber, row.version)
          $0.append(bytes: row.content.span.bytes)
        }
      }
    }
    try updates.finish(in: connection)
    try insertions.finish(in: connection)
  }

  func removeAll(inZone zoneNumber: Int64, of database: DatabaseID) throws {
    try decide(sql.removeAll, [.id(database), .integer(zoneNumber)])
  }

  struct Statements {
    let naming = NamingStatements("records", by: "record_number")
    let numbered: Statement =
      "\(StoredRecord.selection) WHERE database_id = $1 AND record_number = $2"
    let named: Statement =
      "\(StoredRecord.selection) WHERE database_id = $1 AND zone_number = $2 AND record_name = $3"
    let exists: Statement =
      "SELECT 1 FROM records WHERE database_id = $1 AND zone_number = $2 AND record_name = $3"
    let namedAfter: Statement = """
      \(StoredRecord.selection) WHERE database_id = $1 AND zone_number = $2 AND record_name > $3
      ORDER BY record_name LIMIT 500
      """
    let holders: Statement = """
      \(StoredRecord.selection)
      JOIN reference_edges ON reference_edges.database_id = records.database_id
        AND reference_edges.holder_number = records.record_number
      WHERE reference_edges.database_id = $1 AND reference_edges.zone_number = $2
        AND reference_edges.target_name = $3 ORDER BY records.record_number DESC
      """
    let changed: Statement = """
      \(StoredRecord.selection) WHERE database_id = $1 AND zone_number = $2 AND version > $3
      ORDER BY version LIMIT $4
      """
    let after: Statement = """
      \(StoredRecord.selection) WHERE database_id = $1 AND record_number > $2
      ORDER BY record_number LIMIT $3
      """
    let before: Statement = """
      \(StoredRecord.selection) WHERE database_id = $1 AND record_number < $2
      ORDER BY record_number DESC LIMIT $3
      """
    let numbersOfName: Statement = """
      SELECT records.record_number FROM zones
      JOIN records ON records.database_id = zones.database_id
        AND records.zone_number = zones.zone_number AND records.record_name = $2
      WHERE zones.database_id = $1 AND ($3 = 0 OR zones.zone_number = $3)
      """
    let highest: Statement =
      "SELECT record_number FROM records WHERE database_id = $1 ORDER BY record_number DESC LIMIT 1"
    let inZone: Statement = """
      SELECT version, type_number, record_number FROM records
      WHERE database_id = $1 AND zone_number = $2 AND version > $3 ORDER BY version LIMIT $4
      """
    let oldest = candidates("ASC")
    let newest = candidates("DESC")
    let count: Statement = """
      SELECT COUNT(*) FROM (
        SELECT 1 FROM records WHERE database_id = $1 AND zone_number = $2 LIMIT $3) AS counted
      """
    let name: Statement =
      "SELECT record_name FROM records WHERE database_id = $1 AND record_number = $2"
    let holderNames: Statement = """
      SELECT records.record_number, records.record_name FROM records
      JOIN reference_edges ON reference_edges.database_id = records.database_id
        AND reference_edges.holder_number = records.record_number
      WHERE reference_edges.database_id = $1 AND reference_edges.zone_number = $2
        AND reference_edges.target_name = $3
      """
    let indexed: Statement = """
      SELECT \(StoredRecord.columns), value_key FROM records
      JOIN value_index ON value_index.database_id = records.database_id
        AND value_index.record_number = records.record_number
      WHERE value_index.database_id = $1 AND value_index.field_number = $2
        AND (value_key, value_index.record_number) > ($3, $4)
      ORDER BY value_key, value_index.record_number LIMIT $5
      """
    let insertion = RowStatement(
      inserting: """
        records (database_id, record_number, zone_number, record_name, type_number, version, content)
        """, [.integer, .integer, .integer, .text, .integer, .integer, .bytes])
    let update = RowStatement(
      "UPDATE records SET version = $3, content = $4 WHERE database_id = $1 AND record_number = $2",
      [.integer, .integer, .integer, .bytes]
    ) {
      """
      UPDATE records SET version = c3, content = c4 FROM \($0)
      WHERE database_id = c1 AND record_number = c2
      """
    }
    let deletion = RowStatement(
      deletingFrom: "records", by: ["database_id": .integer, "record_number": .integer])
    /// A missing zone gives no row. The arguments are the database, the zone's name and owner, the
    /// record's name, and a number to recognise the row.
    let wanted = RowQuery([.integer, .text, .text, .text, .integer]) {
      """
      SELECT c5, zones.zone_number, records.record_number, records.type_number, records.version,
        records.content, tombstones.type_number, tombstones.version, tombstones.deleted
      FROM \($0)
      JOIN zones ON zones.database_id = c1 AND zones.zone_name = c2 COLLATE "C"
        AND zones.owner_name = c3 COLLATE "C"
      LEFT JOIN records ON records.database_id = c1 AND records.zone_number = zones.zone_number
        AND records.record_name = c4 COLLATE "C"
      LEFT JOIN tombstones ON tombstones.database_id = c1
        AND tombstones.zone_number = zones.zone_number AND tombstones.record_name = c4 COLLATE "C"
      """
    }
    let removeAll: Statement = "DELETE FROM records WHERE database_id = $1 AND zone_number = $2"
  }
  static let sql = Statements()

  private static func candidates(_ order: String) -> Statement {
    """
    SELECT version, type_number, record_number FROM records
    WHERE database_id = $1 AND zone_number = $2 AND version > $3 AND version < $4
    ORDER BY version \(order) LIMIT $5
    """
  }
}

extension StoredRecord {
  static let selection = "SELECT \(columns) FROM records"
}
