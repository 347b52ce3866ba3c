import CloudKitModel
import SQLEngine
import StoreModel

/// The value index: the keys (``ValueKey``) of the values in records, by their fields. Saves and
/// deletions are decided in memory (``WriteSet``) and written together. Searches have statements
/// of their own (``EntrySelection``).
///
/// There is a row for each value, word and location that a query can search for. A search reads a
/// range of a field's keys, and gets record numbers.
struct ValueIndexTable: Table {
  let transaction: StoreTransaction

  /// `field_number` is negative for the words of a field. With `zone_number`, a search in one zone
  /// does not read records of others.
  static let definition = [
    """
    CREATE TABLE value_index (
      database_id BIGINT NOT NULL, field_number BIGINT NOT NULL, value_key BYTEA NOT NULL,
      record_number BIGINT NOT NULL, zone_number BIGINT NOT NULL,
      PRIMARY KEY (database_id, field_number, value_key, record_number)) /*clustered*/
    """
  ]

  func entries(
    of record: Record, type: RecordTypeEntry, at address: DatabaseAddress
  ) throws -> IndexEntries {
    // Other writers add fields without raising the catalog version, so the cached type may lack
    // some.
    if record.fields.contains(where: { type.fields[$0.key] == nil }) {
      try RecordTypeTable(transaction: transaction).loadFields(of: type)
    }
    return IndexEntries(of: record, fields: type.fields, hasOwner: address.owner != nil)
  }

  func hasEntries(inField field: Int64, of database: Int64) throws -> Bool {
    try connection.exists(sql.any, [.integer(database), .integer(field)])
  }

  func count(inField field: Int64, of database: Int64) throws -> Int {
    try connection.count(sql.count, [.integer(database), .integer(field)])
  }

  func visitKeys(
    inField field: Int64, of database: DatabaseID, _ visit: (Int64, IndexKey) throws -> Void
  ) throws {
    try connection.query(sql.keys, [.id(database), .integer(field)]) {
      try visit($0.integer(0), $0.key(1))
    }
  }

  func visitNumbers(
    with key: [UInt8], inField field: Int64, of database: DatabaseID,
    _ visit: (Int64) throws -> Void
  ) throws {
    try connection.query(sql.numbers, [.id(database), .integer(field), .bytes(key)]) {
      try visit($0.integer(0))
    }
  }

  // MARK: Work on indexes

  /// Writes at once. An existing entry stays.
  func add(_ entry: IndexEntry, of stored: StoredRecord, in database: DatabaseID) throws {
    try decide(
      sql.add,
      [
        .id(database), .integer(entry.fieldNumber), .bytes(entry.key), .integer(stored.number),
        .integer(stored.zoneNumber),
      ])
  }

  /// `field` is negative for the index of a field's words. `isAll` is false if the field may have
  /// more entries in the database.
  func removeSome(
    ofField field: Int64, in database: Int64, limit: Int
  ) throws -> (removed: Int, isAll: Bool) {
    let place: [SQLValue] = [.integer(database), .integer(field)]
    let last = try connection.first(sql.last, place + [.count(limit - 1)]) {
      ($0.bytes(0), $0.integer(1))
    }
    guard let (key, number) = last else {
      let removed = try connection.run(sql.removeAll, place)
      return (removed, true)
    }
    let removed = try connection.run(sql.removeThrough, place + [.bytes(key), .integer(number)])
    return (removed, false)
  }

  struct Statements {
    let changes = ChangesStatements()
    let entries = EntrySelection()
    let probe: Statement = """
      SELECT COUNT(*) FROM (
        SELECT 1 FROM value_index WHERE database_id = $1 AND field_number = $2
          AND value_key >= $3 AND value_key <= $4 LIMIT $5) AS probe
      """
    let keys: Statement = """
      SELECT record_number, value_key FROM value_index
      WHERE database_id = $1 AND field_number = $2
      """
    let any: Statement =
      "SELECT 1 FROM value_index WHERE database_id = $1 AND field_number = $2 LIMIT 1"
    let count: Statement =
      "SELECT COUNT(*) FROM value_index WHERE database_id = $1 AND field_number = $2"
    let numbers: Statement = """
      SELECT record_number FROM value_index
      WHERE database_id = $1 AND field_number = $2 AND value_key = $3
      """
    let add: Statement = """
      INSERT INTO value_index
        (database_id, field_number, value_key, record_number, zone_number)
      VALUES ($1, $2, $3, $4, $5)
      ON CONFLICT (database_id, field_number, value_key, record_number) DO NOTHING
      """
    let last: Statement = """
      SELECT value_key, record_number FROM value_index
      WHERE database_id = $1 AND field_number = $2
      ORDER BY value_key, record_number LIMIT 1 OFFSET $3
      """
    let removeAll: Statement =
      "DELETE FROM value_index WHERE database_id = $1 AND field_number = $2"
    let removeThrough: Statement = """
      DELETE FROM value_index WHERE database_id = $1 AND field_number = $2
        AND (value_key, record_number) <= ($3, $4)
      """
  }
  static let sql = Statements()
}

extension ValueIndexTable {
  func writeDecided() throws {
    let index = transaction.writes.index
    var insertions = RowInsertion(sql.changes.insertion)
    var deletions = RowInsertion(sql.changes.deletion)
    try index.forEachInOrder { change in
      func append(to arguments: inout SQLArguments) {
        arguments.append(change.database, change.fieldNumber)
        arguments.append(
          bytes: index.keys.span.extracting(change.start..<change.start + change.count).bytes)
        arguments.append(change.recordNumber)
        if change.isAddition { arguments.append(change.zoneNumber) }
      }
      if change.isAddition {
        try insertions.add(in: connection, append)
      } else {
        try deletions.add(in: connection, append)
      }
    }
    try deletions.finish(in: connection)
    try insertions.finish(in: connection)
    transaction.writes.index.removeAll()
  }

  struct ChangesStatements {
    /// A row that exists already stays unchanged.
    let insertion = RowStatement(
      inserting: "value_index (database_id, field_number, value_key, record_number, zone_number)",
      [.integer, .integer, .bytes, .integer, .integer],
      tail: "ON CONFLICT (database_id, field_number, value_key, record_number) DO NOTHING")
    let deletion = RowStatement(
      deletingFrom: "value_index",
      by: [
        "database_id": .integer, "field_number": .integer, "value_key": .bytes,
        "record_number": .integer,
      ])
  }
}
