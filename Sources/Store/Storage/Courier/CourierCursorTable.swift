import SQLEngine
import StoreModel

/// The cursors of web courier readers: clients that poll the server for entries of the notification
/// log. A reader's cursor in a database is the last entry that the reader has acknowledged.
///
/// The table also has the last answer to a reader whose polls name no event, until the reader
/// acknowledges it.
///
/// A transaction locks the reader's rows in ``DeviceTable``, one for each container, before the
/// cursors. Transactions that register the reader for another user use the same order, so they do
/// not deadlock.
struct CourierCursorTable: Table {
  let transaction: StoreTransaction

  /// `answered` is the number of the entry in the last answer, or null if there is none to
  /// acknowledge. `answered_badge` is 1 if that entry raises the reader's badge, and 0 if not.
  static let definition = [
    """
    CREATE TABLE courier_cursors (
      database_id BIGINT NOT NULL, token TEXT NOT NULL, sequence BIGINT NOT NULL, answered BIGINT,
      answered_badge BIGINT, PRIMARY KEY (database_id, token))
    """
  ]

  func cursor(of token: String, in database: DatabaseID) throws -> Int64 {
    try connection.integer(sql.cursor, [.id(database), .text(token)]) ?? 0
  }

  /// Does nothing if the database is not of the reader's container and environment.
  func startReading(_ reader: Recipient, by token: String, in database: DatabaseID) throws {
    try decide(
      sql.startReading,
      [.id(database), .text(token), .text(reader.container), .text(reader.environment.rawValue)])
  }

  func advance(_ token: String, to sequence: Int64, in database: DatabaseID) throws -> Bool {
    try connection.run(sql.advance, [.id(database), .text(token), .integer(sequence)]) == 1
  }

  func forget(_ reader: DeviceName, in database: DatabaseID) throws {
    try decide(
      sql.forgetReader,
      [
        .id(database), .text(reader.token), .text(reader.container),
        .text(reader.environment.rawValue),
      ])
  }

  // MARK: Last answers

  func answer(to reader: DeviceName, in database: DatabaseID) throws -> CourierAnswer? {
    try connection.first(sql.answer, [.id(database), .text(reader.token)]) {
      CourierAnswer(
        database: database, reader: reader, sequence: $0.integer(0),
        asksForBadge: $0.integer(1) != 0)
    }
  }

  func keep(_ answer: CourierAnswer) throws {
    try decide(
      sql.keepAnswer,
      [
        .id(answer.database), .text(answer.reader.token), .integer(answer.sequence),
        answer.asksForBadge ? 1 : 0,
      ])
  }

  /// Returns false, and changes nothing, if the cursor is already there or later, or the table no
  /// longer has this answer.
  func acknowledge(_ answer: CourierAnswer) throws -> Bool {
    try connection.run(
      sql.acknowledge,
      [.id(answer.database), .text(answer.reader.token), .integer(answer.sequence)])
      == 1
  }

  /// Deletes the answer alone, so the reader goes on after it.
  func forget(_ answer: CourierAnswer) throws {
    try decide(
      sql.forgetAnswer,
      [.id(answer.database), .text(answer.reader.token), .integer(answer.sequence)])
  }

  struct Statements {
    let cursor: Statement =
      "SELECT sequence FROM courier_cursors WHERE database_id = $1 AND token = $2"
    let startReading: Statement = """
      INSERT INTO courier_cursors (database_id, token, sequence)
      SELECT database_id, $2, last_number FROM databases
      WHERE database_id = $1 AND container = $3 AND environment = $4
      ON CONFLICT (database_id, token) DO UPDATE SET sequence = excluded.sequence
      """
    let advance: Statement = """
      INSERT INTO courier_cursors (database_id, token, sequence) VALUES ($1, $2, $3)
      ON CONFLICT (database_id, token) DO UPDATE SET sequence = excluded.sequence
        WHERE courier_cursors.sequence < excluded.sequence
      """
    let forgetReader: Statement = """
      DELETE FROM courier_cursors WHERE database_id = $1 AND token = $2 AND EXISTS (
        SELECT 1 FROM databases WHERE database_id = $1 AND container = $3 AND environment = $4)
      """
    let answer: Statement = """
      SELECT answered, answered_badge FROM courier_cursors
      WHERE database_id = $1 AND token = $2 AND answered IS NOT NULL
      """
    let keepAnswer: Statement = """
      INSERT INTO courier_cursors (database_id, token, sequence, answered, answered_badge)
      VALUES ($1, $2, 0, $3, $4)
      ON CONFLICT (database_id, token) DO UPDATE SET answered = excluded.answered,
        answered_badge = excluded.answered_badge
      """
    let acknowledge: Statement = """
      UPDATE courier_cursors SET sequence = $3, answered = NULL, answered_badge = NULL
      WHERE database_id = $1 AND token = $2 AND answered = $3 AND sequence < $3
      """
    let forgetAnswer: Statement = """
      UPDATE courier_cursors SET answered = NULL, answered_badge = NULL
      WHERE database_id = $1 AND token = $2 AND answered = $3
      """
  }
  static let sql = Statements()
}

/// The last answer to a reader from one of its databases.
struct CourierAnswer {
  var database: DatabaseID
  var reader: DeviceName
  var sequence: Int64
  /// Whether the entry raises the reader's badge when it is acknowledged.
  var asksForBadge: Bool
}
