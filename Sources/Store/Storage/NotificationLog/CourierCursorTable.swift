import CloudKitModel
import SQLEngine
import StoreModel

/// The cursors of web courier readers. If a reader's polls may reach several servers, the table
/// also has the last answer that the reader has not acknowledged.
///
/// A reader's name here is that of its row for the container (``DeviceTable``), which may differ
/// from the reader's token. Transactions lock a reader's rows of ``DeviceTable`` before its
/// cursors, as those do that give the reader to another user.
struct CourierCursorTable {
  let transaction: StoreTransaction

  private var connection: any SQLConnection { transaction.connection }

  /// The table of cursors. `sequence` is the last acknowledged entry. `answered` is the sequence of
  /// the last answer, and null if there is none. `answered_badge` is 1 if that entry counts for the
  /// badge.
  static let definition = [
    """
    CREATE TABLE courier_cursors (
      database_id BIGINT NOT NULL, token TEXT NOT NULL, sequence BIGINT NOT NULL, answered BIGINT,
      answered_badge BIGINT, PRIMARY KEY (database_id, token))
    """
  ]

  /// Returns the sequence of the last entry that the reader has acknowledged; 0 if there is none.
  func cursor(of token: String, in database: DatabaseID) throws -> Int64 {
    try connection.first(
      "SELECT sequence FROM courier_cursors WHERE database_id = $1 AND token = $2",
      [.integer(database.rawValue), .text(token)]
    ) { $0.integer(0) } ?? 0
  }

  /// Moves a reader's cursor to the end of a database's log, if the database belongs to the
  /// reader's container.
  ///
  /// The reader then gets entries that are logged from now on. A database of another container or
  /// environment is ignored.
  func startReading(_ reader: Recipient, by token: String, in database: DatabaseID) throws {
    try connection.run(
      """
      INSERT INTO courier_cursors (database_id, token, sequence)
      SELECT database_id, $2, last_number FROM databases
      WHERE database_id = $1 AND container = $3 AND environment = $4
      ON CONFLICT (database_id, token) DO UPDATE SET sequence = excluded.sequence
      """,
      [
        .integer(database.rawValue), .text(token), .text(reader.container),
        .text(reader.environment.rawValue),
      ])
  }

  /// Moves a reader's cursor to an entry.
  ///
  /// - Returns: false if the cursor is already at or past the entry; then nothing changes.
  func advance(_ token: String, to sequence: Int64, in database: DatabaseID) throws -> Bool {
    try connection.run(
      """
      INSERT INTO courier_cursors (database_id, token, sequence) VALUES ($1, $2, $3)
      ON CONFLICT (database_id, token) DO UPDATE SET sequence = excluded.sequence
        WHERE courier_cursors.sequence < excluded.sequence
      """, [.integer(database.rawValue), .text(token), .integer(sequence)]) == 1
  }

  /// Deletes a reader's cursor.
  func forget(_ token: String, in database: DatabaseID) throws {
    try connection.run(
      "DELETE FROM courier_cursors WHERE database_id = $1 AND token = $2",
      [.integer(database.rawValue), .text(token)])
  }

  // MARK: Last answers

  /// Returns the last answer to a reader, if it is not acknowledged.
  func answer(to token: String, in database: DatabaseID) throws -> CourierAnswer? {
    try connection.first(
      """
      SELECT answered, answered_badge FROM courier_cursors
      WHERE database_id = $1 AND token = $2 AND answered IS NOT NULL
      """, [.integer(database.rawValue), .text(token)]
    ) {
      CourierAnswer(
        database: database, reader: token, sequence: $0.integer(0),
        asksForBadge: $0.integer(1) != 0)
    }
  }

  /// Stores the last answer to a reader, in place of an earlier one. The cursor stays.
  func keep(_ answer: CourierAnswer) throws {
    try connection.run(
      """
      INSERT INTO courier_cursors (database_id, token, sequence, answered, answered_badge)
      VALUES ($1, $2, 0, $3, $4)
      ON CONFLICT (database_id, token) DO UPDATE SET answered = excluded.answered,
        answered_badge = excluded.answered_badge
      """,
      [
        .integer(answer.database.rawValue), .text(answer.reader), .integer(answer.sequence),
        answer.asksForBadge ? 1 : 0,
      ])
  }

  /// Moves a reader's cursor to its last answer, and deletes the answer.
  ///
  /// - Returns: false if the cursor is already past it, or if the answer was acknowledged
  ///   meanwhile; then nothing changes.
  func acknowledge(_ answer: CourierAnswer) throws -> Bool {
    try connection.run(
      """
      UPDATE courier_cursors SET sequence = $3, answered = NULL, answered_badge = NULL
      WHERE database_id = $1 AND token = $2 AND answered = $3 AND sequence < $3
      """,
      [.integer(answer.database.rawValue), .text(answer.reader), .integer(answer.sequence)]) == 1
  }

  /// Deletes the last answer, if it is still this one. The cursor stays.
  func forget(_ answer: CourierAnswer) throws {
    try connection.run(
      """
      UPDATE courier_cursors SET answered = NULL, answered_badge = NULL
      WHERE database_id = $1 AND token = $2 AND answered = $3
      """,
      [.integer(answer.database.rawValue), .text(answer.reader), .integer(answer.sequence)])
  }
}

/// The last answer to a reader from one of its databases.
struct CourierAnswer {
  var database: DatabaseID
  /// The name of the reader's row for the container.
  var reader: String
  /// The sequence of the entry that was sent.
  var sequence: Int64
  /// Whether acknowledging the entry raises the reader's badge.
  var asksForBadge: Bool
}
