import CloudKitModel
import SQLEngine
import StoreModel

/// The records of databases, by their numbers.
///
/// A record's number is that of the change that created it. The number identifies the record in the
/// value index. It never changes and is never reused.
struct RecordTable {
  let transaction: StoreTransaction
  private var connection: any SQLConnection { transaction.connection }

  /// The table of records, with the index by which a save finds a name.
  ///
  /// `version` is the number of the record's latest change. `content` has everything else of the
  /// record but its name, its type and its zone (``RowEncoder/encodeContent(of:)``). A save reads
  /// and replaces it as a whole.
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
  ]

  /// The index by which change feeds read a zone. It is created after other tables. It has the
  /// type, so a feed that wants some types only skips other records without reading them.
  static let versionIndex = [
    """
    CREATE INDEX records_by_version
    ON records (database_id, zone_number, version, type_number)
    """
  ]

  /// The statement that selects the record of a name in a zone.
  private static let selectionByName =
    StoredRecord.selection + " WHERE database_id = $1 AND zone_number = $2 AND record_name = $3"

  // MARK: Reading

  /// Decodes the record of a row.
  ///
  /// - Throws: ``StoreError/Code/corrupt`` if the content is damaged, or its type or zone is
  ///   unknown.
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
      number: row.number, zoneNumber: row.zoneNumber, record: record,
      contentSize: row.content.count)
  }

  /// Returns the record with a number from an index.
  ///
  /// - Throws: ``StoreError/Code/corrupt`` if there is none.
  func record(numbered number: Int64, in database: DatabaseID) throws -> StoredRecord {
    guard let record = try existingRecord(numbered: number, in: database) else {
      throw StoreError(.corrupt, "an index contains record \(number), which does not exist")
    }
    return record
  }

  /// Returns the record with a number; nil if it was deleted.
  func existingRecord(numbered number: Int64, in database: DatabaseID) throws -> StoredRecord? {
    try connection.first(
      StoredRecord.selection + " WHERE database_id = $1 AND record_number = $2",
      [.integer(database.rawValue), .integer(number)], StoredRecord.Row.init
    ).map { try record($0, in: database) }
  }

  /// Finds records whose content has a user's name. There is no index for that, so a batch of
  /// records is scanned.
  ///
  /// - Parameters:
  ///   - user: the user's record name.
  ///   - number: the record number after which the scan begins.
  ///   - count: the most records to scan.
  ///   - limit: the most records to return.
  /// - Returns: the records found, and the last number scanned; nil if no records are left.
  func naming(
    _ user: String, after number: Int64, examining count: Int64, limit: Int64 = .max,
    in database: DatabaseID
  ) throws -> (found: [Int64], end: Int64)? {
    try transaction.rows(
      of: "records", by: "record_number", naming: user, after: number, examining: count,
      limit: limit, in: database)
  }

  /// Returns the record of a name in a zone; nil if there is none.
  func record(
    named recordName: String, inZone zoneNumber: Int64, of database: DatabaseID
  ) throws -> StoredRecord? {
    try connection.first(
      Self.selectionByName,
      [.integer(database.rawValue), .integer(zoneNumber), .text(recordName)],
      StoredRecord.Row.init
    ).map { try record($0, in: database) }
  }

  /// Returns whether a zone has a record of a name. It reads no content.
  func contains(
    _ recordName: String, inZone zoneNumber: Int64, of database: DatabaseID
  ) throws -> Bool {
    try number(of: recordName, inZone: zoneNumber, of: database) != nil
  }

  /// Returns the number of the record of a name; nil if there is none.
  func number(
    of recordName: String, inZone zoneNumber: Int64, of database: DatabaseID
  ) throws -> Int64? {
    try connection.first(
      """
      SELECT record_number FROM records
      WHERE database_id = $1 AND zone_number = $2 AND record_name = $3
      """, [.integer(database.rawValue), .integer(zoneNumber), .text(recordName)]
    ) { $0.integer(0) }
  }

  /// Returns the name of a record; nil if it was deleted.
  func name(of number: Int64, in database: DatabaseID) throws -> String? {
    try connection.first(
      "SELECT record_name FROM records WHERE database_id = $1 AND record_number = $2",
      [.integer(database.rawValue), .integer(number)]
    ) { $0.text(0) }
  }

  /// Returns the records with a `deleteSelf` reference to the one of this name
  /// (``ReferenceTable``), the newest first.
  func holders(
    ofReferencesTo recordName: String, inZone zoneNumber: Int64, of database: DatabaseID
  ) throws -> [StoredRecord] {
    try connection.rows(
      StoredRecord.selection + """
         JOIN reference_edges ON reference_edges.database_id = records.database_id
          AND reference_edges.holder_number = records.record_number
        WHERE reference_edges.database_id = $1 AND reference_edges.zone_number = $2
          AND reference_edges.target_name = $3 ORDER BY records.record_number DESC
        """,
      [.integer(database.rawValue), .integer(zoneNumber), .text(recordName)],
      StoredRecord.Row.init
    ).map { try record($0, in: database) }
  }

  /// Returns the numbers and names of the records with a `deleteSelf` reference to the one of this
  /// name.
  func holderNames(
    ofReferencesTo recordName: String, inZone zoneNumber: Int64, of database: DatabaseID
  ) throws -> [(number: Int64, name: String)] {
    try connection.rows(
      """
      SELECT records.record_number, records.record_name FROM records
      JOIN reference_edges ON reference_edges.database_id = records.database_id
        AND reference_edges.holder_number = records.record_number
      WHERE reference_edges.database_id = $1 AND reference_edges.zone_number = $2
        AND reference_edges.target_name = $3
      """, [.integer(database.rawValue), .integer(zoneNumber), .text(recordName)]
    ) { ($0.integer(0), $0.text(1)) }
  }

  /// Returns the next 500 records of a zone after a name, in the order of their names.
  func records(
    inZone zoneNumber: Int64, of database: DatabaseID, after recordName: String
  ) throws -> [StoredRecord] {
    try connection.rows(
      StoredRecord.selection
        + " WHERE database_id = $1 AND zone_number = $2 AND record_name > $3"
        + " ORDER BY record_name LIMIT 500",
      [.integer(database.rawValue), .integer(zoneNumber), .text(recordName)],
      StoredRecord.Row.init
    ).map { try record($0, in: database) }
  }

  /// Returns the changes between two versions, both exclusive, for a change feed.
  ///
  /// - Parameters:
  ///   - low: the version after which changes are wanted.
  ///   - high: the version before which changes are wanted.
  ///   - order: `ASC` or `DESC`, by version.
  ///   - limit: the most changes.
  func candidates(
    inZone zone: Int64, of database: DatabaseID, above low: Int64, below high: Int64,
    order: String, limit: Int
  ) throws -> [RecordFeed.Candidate] {
    try connection.rows(
      """
      SELECT version, type_number, record_number FROM records
      WHERE database_id = $1 AND zone_number = $2 AND version > $3 AND version < $4
      ORDER BY version \(order) LIMIT $5
      """,
      [
        .integer(database.rawValue), .integer(zone), .integer(low), .integer(high),
        .integer(Int64(limit)),
      ]
    ) {
      RecordFeed.Candidate(
        version: $0.integer(0), typeNumber: $0.integer(1), subject: .record(number: $0.integer(2)))
    }
  }

  /// Returns the records of a zone that were saved after a version, in the order of their versions.
  /// They are of all types.
  func rows(
    changedAfter version: Int64, inZone zone: Int64, of database: DatabaseID, limit: Int
  ) throws -> [StoredRecord.Row] {
    try connection.rows(
      StoredRecord.selection
        + """
         WHERE database_id = $1 AND zone_number = $2 AND version > $3
        ORDER BY version LIMIT $4
        """,
      [
        .integer(database.rawValue), .integer(zone), .integer(version), .integer(Int64(limit)),
      ], StoredRecord.Row.init)
  }

  /// Returns the records of a field in the value index, in its order, with their keys.
  ///
  /// - Parameters:
  ///   - field: the number of the field.
  ///   - position: the entry after which the rows begin.
  ///   - limit: the most rows.
  func rows(
    indexedBy field: Int64, after position: TypeScan.Position, limit: Int
  ) throws -> [(row: StoredRecord.Row, key: [UInt8])] {
    try connection.rows(
      """
      SELECT \(StoredRecord.columns), value_key FROM records
      JOIN value_index ON value_index.database_id = records.database_id
        AND value_index.record_number = records.record_number
      WHERE value_index.database_id = $1 AND value_index.field_number = $2
        AND (value_key, value_index.record_number) > ($3, $4)
      ORDER BY value_key, value_index.record_number LIMIT $5
      """,
      [
        .integer(position.database), .integer(field), .bytes(position.key),
        .integer(position.number), .integer(Int64(limit)),
      ]
    ) { (StoredRecord.Row($0), $0.bytes(6)) }
  }

  // MARK: Writing

  /// Inserts a prepared record. Its number is its version.
  ///
  /// - Returns: false if the zone has a record of its name.
  func insert(
    _ creation: RecordCreation, version: Int64, inZone zoneNumber: Int64, of database: DatabaseID
  ) throws -> Bool {
    transaction.arguments.removeAll()
    transaction.arguments.append(database.rawValue)
    transaction.arguments.append(version)
    transaction.arguments.append(zoneNumber)
    transaction.arguments.append(creation.recordName)
    transaction.arguments.append(creation.type.number)
    transaction.arguments.append(version)
    let content = creation.content
    transaction.arguments.append(bytes: content.span.bytes)
    return try connection.run(
      """
      INSERT INTO records (database_id, record_number, zone_number, record_name, type_number,
        version, content)
      VALUES ($1, $2, $3, $4, $5, $6, $7)
      ON CONFLICT (database_id, zone_number, record_name) DO NOTHING
      """, transaction.arguments) == 1
  }

  /// Inserts a record whose name is not in use.
  ///
  /// - Parameters:
  ///   - stored: the record with its number and zone.
  ///   - typeNumber: the number of its record type.
  ///   - content: the encoded content.
  ///   - version: the number of the change that creates it.
  func insert(
    _ stored: StoredRecord, ofType typeNumber: Int64, content: [UInt8], version: Int64,
    in database: DatabaseID
  ) throws {
    try connection.run(
      """
      INSERT INTO records (database_id, record_number, zone_number, record_name, type_number,
        version, content)
      VALUES ($1, $2, $3, $4, $5, $6, $7)
      """,
      [
        .integer(database.rawValue), .integer(stored.number), .integer(stored.zoneNumber),
        .text(stored.record.recordID.recordName), .integer(typeNumber), .integer(version),
        .bytes(content),
      ])
  }

  /// Replaces the content and the version of a stored record. Its name, type and zone never change.
  func update(
    _ stored: StoredRecord, content: [UInt8], version: Int64, in database: DatabaseID
  ) throws {
    try connection.run(
      """
      UPDATE records SET version = $3, content = $4
      WHERE database_id = $1 AND record_number = $2
      """,
      [
        .integer(database.rawValue), .integer(stored.number), .integer(version),
        .bytes(content),
      ])
  }

  /// Deletes a record's row.
  ///
  /// - Returns: false if there is none.
  func remove(_ number: Int64, of database: DatabaseID) throws -> Bool {
    try connection.run(
      "DELETE FROM records WHERE database_id = $1 AND record_number = $2",
      [.integer(database.rawValue), .integer(number)]) == 1
  }

  /// Deletes all records of a zone.
  func removeAll(inZone zoneNumber: Int64, of database: DatabaseID) throws {
    try connection.run(
      "DELETE FROM records WHERE database_id = $1 AND zone_number = $2",
      [.integer(database.rawValue), .integer(zoneNumber)])
  }
}

extension StoredRecord {
  /// The beginning of a statement that selects the columns of ``Row``. The caller appends a
  /// condition.
  static let selection = "SELECT \(columns) FROM records"
}
