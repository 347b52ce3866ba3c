import CloudKitModel
import SQLEngine

/// The table of the indexes that are being built or removed, with the progress of each.
///
/// A row is added when a schema changes the options of a field, and deleted when the work ends.
/// While the row exists, searches do not use the index.
struct IndexWorkTable: Table {
  let transaction: StoreTransaction

  /// `field_number` is negative for the index of a field's words. `phase` is the raw value of
  /// ``IndexWork/Phase``. `database_id`, `value_key` and `record_number` are the position of the
  /// work. `done` counts indexed records or removed entries.
  static let definition = [
    """
    CREATE TABLE index_work (
      field_number BIGINT PRIMARY KEY, phase BIGINT NOT NULL, database_id BIGINT NOT NULL,
      value_key BYTEA NOT NULL, record_number BIGINT NOT NULL, done BIGINT NOT NULL)
    """
  ]

  /// In the order of the fields' numbers, without fields that the schema no longer has.
  func pending() throws -> [PendingIndex] {
    try connection.rows(sql.pending, []) { row in
      let number = row.integer(0)
      let indexes = FieldIndexes(rawValue: UInt8(row.integer(7)))
      return PendingIndex(
        indexNumber: number,
        position: TypeScan.Position(
          database: row.integer(2), key: row.bytes(3), number: row.integer(4)),
        isWanted: number < 0 ? indexes.contains(.searchable) : indexes.usesValues,
        work: IndexWork(
          container: row.text(9),
          environment: ContainerEnvironment(rawValue: row.text(10)) ?? .development,
          recordType: row.text(8), field: row.text(6), content: number < 0 ? .words : .values,
          phase: IndexWork.Phase(rawValue: row.integer(1)), done: row.count(5)))
    }
  }

  /// If work on the index is under way, it starts again with the removal of entries.
  ///
  /// - Parameter indexNumber: negative for the index of the field's words.
  func begin(workOn indexNumber: Int64, isWanted: Bool) throws {
    let isUnderWay = try connection.exists(sql.exists, [.integer(indexNumber)])
    let phase: IndexWork.Phase = isWanted && !isUnderWay ? .building : .clearing
    try decide(sql.begin, [.integer(indexNumber), .integer(phase.rawValue), .bytes([])])
  }

  func keep(_ pending: PendingIndex) throws {
    try decide(
      sql.keep,
      [
        .integer(pending.indexNumber), SQLValue(pending.work.phase?.rawValue),
        .integer(pending.position.database), .bytes(pending.position.key),
        .integer(pending.position.number), .count(pending.work.done),
      ])
  }

  /// Sets `pending.work.phase` to nil. The caller raises the catalog version, so that searches use
  /// the index.
  func remove(_ pending: inout PendingIndex) throws {
    pending.work.phase = nil
    try decide(sql.remove, [.integer(pending.indexNumber)])
  }

  struct Statements {
    let pending = """
      SELECT index_work.field_number, phase, database_id, value_key, record_number, done,
        record_fields.name, indexes, record_types.name, container, environment
      FROM index_work
      JOIN record_fields ON record_fields.field_number = ABS(index_work.field_number)
      JOIN record_types ON record_types.type_number = record_fields.type_number
      ORDER BY ABS(index_work.field_number), index_work.field_number
      """.except(.wholeTable)
    let exists: Statement = "SELECT 1 FROM index_work WHERE field_number = $1"
    let begin: Statement = """
      INSERT INTO index_work (field_number, phase, database_id, value_key, record_number, done)
      VALUES ($1, $2, 0, $3, -1, 0)
      ON CONFLICT (field_number) DO UPDATE SET phase = excluded.phase, database_id = 0,
        value_key = excluded.value_key, record_number = -1, done = 0
      """
    let keep: Statement = """
      UPDATE index_work SET phase = $2, database_id = $3, value_key = $4, record_number = $5,
        done = $6
      WHERE field_number = $1
      """
    let remove: Statement = "DELETE FROM index_work WHERE field_number = $1"
  }
  static let sql = Statements()
}

/// A row of the table.
struct PendingIndex {
  /// Negative for the index of words.
  var indexNumber: Int64
  /// A removal uses only the database.
  var position: TypeScan.Position
  /// Whether the field's options require the index. If so, an index whose entries are being
  /// removed is built afterwards.
  var isWanted: Bool
  var work: IndexWork
}

/// The work that makes the index of a field match the field's options.
///
/// The work begins when a schema change adds or removes an index of a field.
/// `MaintenanceService.continueIndexWork()` does the work in small steps, while the store is in use.
/// Until the work is done, queries that need the index fail with ``ItemFailure/Code/notReady``.
public struct IndexWork: Sendable, Hashable {
  /// The phase of the work.
  public enum Phase: Int64, Sendable {
    /// The store removes old entries of the index.
    case clearing = 0
    /// The store adds the entries of existing records.
    case building = 1
  }

  /// The contents of an index.
  public enum Content: Sendable, Hashable {
    /// Whole values, for `QUERYABLE` and `SORTABLE`.
    case values
    /// Words, for `SEARCHABLE`.
    case words
  }

  /// The container whose schema has the field.
  public var container: String
  /// The environment of the container.
  public var environment: ContainerEnvironment
  /// The record type.
  public var recordType: String
  /// The name of the field.
  public var field: String
  /// The contents of the index.
  public var content: Content
  /// The present phase; nil when all work is done.
  public var phase: Phase?
  /// The records indexed so far, or the entries removed so far in the phase ``Phase/clearing``.
  public var done: Int
  /// The records of the type when the value was read. nil in the phase ``Phase/clearing``, and in
  /// the result of `MaintenanceService.continueIndexWork()`.
  public var total: Int?
}

extension IndexWork {
  /// The index for people, such as `index of values of Note.title in iCloud.com.example.app
  /// (production)`.
  public var name: String {
    let kind = content == .values ? "values" : "words"
    return "index of \(kind) of \(recordType).\(field) in \(container) (\(environment.rawValue))"
  }

  /// The progress for people, such as `200 of 1000 records`.
  public var progress: String {
    switch phase {
    case .clearing?: "\(done) old \(done == 1 ? "entry" : "entries") removed"
    case .building?:
      "\(total.map { "\(done) of \($0)" } ?? "\(done)") \((total ?? done) == 1 ? "record" : "records")"
    case nil: "done"
    }
  }
}
