/// An argument of a statement. SQLite stores it by its own type; PostgreSQL gets it in its binary
/// format.
package enum SQLValue: Sendable, Equatable {
  case null
  /// `BIGINT`.
  case integer(Int64)
  /// `TEXT`, in UTF-8. PostgreSQL refuses the character U+0000: ``StoreError/Code/unkeptText``.
  case text(String)
  /// `BYTEA`.
  case bytes([UInt8])

  package init(_ text: String?) { self = text.map { .text($0) } ?? .null }
  package init(_ integer: Int64?) { self = integer.map { .integer($0) } ?? .null }
}

extension SQLValue: ExpressibleByIntegerLiteral {
  package init(integerLiteral value: Int64) { self = .integer(value) }
}

/// The kind of a database engine.
package enum SQLEngineKind: Sendable {
  case sqlite, postgreSQL
}

/// The current row of a query. Columns are counted from 0. The row is valid only during the call of
/// the visitor, the closure that gets the row.
///
/// The methods do not check the type of a column. A null reads as 0 or as empty, so ask
/// ``isNull(_:)`` first if a column can be null.
package protocol SQLRow {
  func isNull(_ column: Int32) -> Bool
  /// PostgreSQL's smaller integers and Booleans are converted.
  func integer(_ column: Int32) -> Int64
  /// Bytes that are not UTF-8 become U+FFFD.
  func text(_ column: Int32) -> String
  /// A copy of the bytes.
  func bytes(_ column: Int32) -> [UInt8]
  /// The bytes of a text or a blob in the engine's memory, valid as long as the row.
  func buffer(_ column: Int32) -> UnsafeRawBufferPointer
}

extension SQLRow {
  @inlinable package func optionalInteger(_ column: Int32) -> Int64? {
    isNull(column) ? nil : integer(column)
  }
  @inlinable package func optionalText(_ column: Int32) -> String? {
    isNull(column) ? nil : text(column)
  }
}

/// A query whose arguments are arrays: each has the values of one column of `rows`. Only engines that
/// are shared (``SQLConnection/isShared``) have such queries; others find nothing.
package struct RowQuery: Sendable {
  package let statement: Statement
  package let kinds: [SQLTable.Kind]
  package var rows = SQLArguments()

  package init(_ statement: Statement) {
    self.statement = statement
    kinds = []
  }

  /// Passes the text the table of the arguments (``RowStatement``).
  package init(_ kinds: [SQLTable.Kind], _ text: (_ rows: String) -> String) {
    self.kinds = kinds
    statement = Statement(text(RowStatement.rows(of: kinds)), .onPostgreSQL)
  }
}

/// A connection to an engine: the boundary between the store's statements and SQLite or PostgreSQL.
///
/// A connection belongs to one thread. A connection prepares each statement once and keeps it, so
/// the texts of statements must be constants. Parameters are written `$1`, `$2`, … as in
/// PostgreSQL. Every failure is a ``StoreError`` with the statement's text.
///
/// ```swift
/// try connection.beginWriting()
/// try connection.run("DELETE FROM zones WHERE database_id = $1", [.integer(database)])
/// try connection.commit()
/// ```
///
/// To add a third engine, write a type that conforms to this protocol and an ``SQLRow`` of its own,
/// and add a case to ``SQLEngineKind`` and to `StoreLocation`. `docs/internals/store.md`, "A third
/// engine", lists the SQL that the engine must understand, and the code that depends on the engine.
package protocol SQLConnection: AnyObject {
  /// Code whose statements differ between engines checks this property.
  var kind: SQLEngineKind { get }
  var name: String { get }
  func execute(_ script: String) throws
  /// Returns the number of changed rows. Rows that the statement finds are ignored.
  @discardableResult
  func run(_ statement: Statement, _ arguments: [SQLValue]) throws -> Int
  /// Runs a statement whose result is not needed. A later statement may throw the error of this
  /// one, at the latest the commit.
  func runLater(_ statement: Statement, _ arguments: [SQLValue]) throws
  func runLater(_ query: RowQuery) throws
  /// Runs a statement for many rows, as ``runLater(_:_:)`` does for one.
  func runLater(_ statement: RowStatement, rows: borrowing SQLArguments) throws
  var gate: StatementGate? { get set }
  /// Runs a statement and visits its rows in order. The visitor must not run statements on the
  /// connection. An error that the visitor throws ends the query, and the call throws it.
  ///
  /// - Throws: `CancellationError` if ``read`` was cancelled.
  func query(
    _ statement: Statement, _ arguments: [SQLValue], _ visit: (any SQLRow) throws -> Void
  ) throws
  func query(_ query: RowQuery, _ visit: (any SQLRow) throws -> Void) throws
  /// The connection was lost and not replaced yet.
  var isLost: Bool { get }
  /// Connects again if necessary; for statements outside of a transaction.
  func getReady() throws
  /// The read under way, if it can be cancelled (``ReadCancellation/begin(on:)``).
  var read: ReadCancellation? { get set }
  /// The closure ends the running statement. Any thread may call it while the connection is open.
  func interruption() -> @Sendable () -> Void
  /// Notes that a read was cancelled: its interruption may still arrive and end a later statement.
  func noteInterruption()
  /// The engine may have ended the transaction after a severe failure.
  var isInTransaction: Bool { get }
  /// Whether statements of the open transaction can still succeed. In PostgreSQL a failed statement
  /// ends this, until the transaction returns to a savepoint.
  var canContinue: Bool { get }
  /// Whether other connections can write at the same time, as far as locks permit.
  var isShared: Bool { get }
  func beginWriting() throws
  /// Starts a transaction that will write, and runs queries in it in the same round trip.
  ///
  /// - Parameter visit: gets the index of a query and one of its rows.
  func beginWriting(
    with queries: [RowQuery], _ visit: (_ query: Int, any SQLRow) throws -> Void) throws
  func beginReading() throws
  /// Starts a transaction with an exclusive lock on a table, which `definition` creates if there
  /// is none. Statements may take long.
  func beginAlone(with table: String, definedBy definition: String) throws
  /// The writes are durable when the call returns; if that is not certain, the call throws.
  func commit() throws
  func rollback() throws
  /// The number of pages in the engine's write-ahead log after this connection's last commit; 0 for
  /// an engine that manages its log by itself.
  var loggedPages: Int { get }
  /// Copies the write-ahead log into the database, and returns the number of its pages that are now
  /// there. Do not call it when all are copied already (see ``CheckpointSchedule``).
  ///
  /// - Parameter isAlone: whether the caller keeps the writer from writing meanwhile. The call
  ///   then waits a short time for readers, so that the log can restart.
  func copyLog(isAlone: Bool) throws -> Int
  func intake(into table: SQLTable) -> any RowIntake
  /// Runs `body`, whose statements are each a transaction by itself. If the connection turns out to
  /// be lost, the method runs `body` once more.
  func withoutTransaction<Value>(_ body: () throws -> Value) throws -> Value
  /// Ensures that the whole log is on the disk, even if an earlier process failed to sync it.
  func renewLog() throws
  /// Whether the file is marked as one whose log must be there (``markLog()``).
  var isLogMarked: Bool { get throws }
  /// Marks the file as one whose log must be there, because commits may be in the log only. The
  /// mark is in the file itself when the method returns. It does nothing for other engines.
  func markLog() throws
  /// Copies the whole log into the file, and removes the mark of ``markLog()``. The last connection
  /// calls it before it is closed. It does nothing for other engines.
  func settleLog() throws
  /// Copies the log into the file and truncates it, so that neither has deleted or overwritten
  /// data.
  ///
  /// - Returns: false if a connection reads from the log for too long.
  func eraseLog() throws -> Bool
  /// Collects the planner's statistics of tables that have none. Those in `small` are analyzed even
  /// while they are nearly empty. `report` gets each table that could not be analyzed.
  func analyzeUnknownTables(
    besides small: [String], _ report: (_ table: String, any Error) -> Void)
  /// Translates a table definition from the store's dialect.
  func definition(_ statement: String) -> String
  /// Idempotent. Other methods must not be called afterwards.
  func close()
}

extension SQLConnection {
  /// Does not report a failed rollback: the engine rolls back by itself when the connection is
  /// closed or lost.
  package func giveUpTransaction() {
    if isInTransaction { try? rollback() }
  }
}

extension SQLConnection {
  @inlinable package func rows<Value>(
    _ statement: Statement, _ arguments: [SQLValue], _ read: (any SQLRow) throws -> Value
  ) throws -> [Value] {
    var values: [Value] = []
    try query(statement, arguments) { values.append(try read($0)) }
    return values
  }

  /// All rows are read, so a statement that can find many needs a `LIMIT`.
  @inlinable package func first<Value>(
    _ statement: Statement, _ arguments: [SQLValue], _ read: (any SQLRow) throws -> Value
  ) throws -> Value? {
    var value: Value?
    try query(statement, arguments) { if value == nil { value = try read($0) } }
    return value
  }

  /// Commits the open transaction after `body`. If one of them fails, rolls the transaction back.
  package func committing<Value>(_ body: () throws -> Value) throws -> Value {
    do {
      let value = try body()
      try commit()
      return value
    } catch {
      giveUpTransaction()
      throw error
    }
  }

  package func exists(_ statement: Statement, _ arguments: [SQLValue]) throws -> Bool {
    try first(statement, arguments) { _ in true } ?? false
  }

  /// Returns the first column of the first row.
  package func integer(_ statement: Statement, _ arguments: [SQLValue]) throws -> Int64? {
    try first(statement, arguments) { $0.integer(0) }
  }

  /// Returns the first column of each row.
  package func integers(_ statement: Statement, _ arguments: [SQLValue]) throws -> [Int64] {
    try rows(statement, arguments) { $0.integer(0) }
  }

  package func text(_ statement: Statement, _ arguments: [SQLValue]) throws -> String? {
    try first(statement, arguments) { $0.text(0) }
  }

  package func texts(_ statement: Statement, _ arguments: [SQLValue]) throws -> [String] {
    try rows(statement, arguments) { $0.text(0) }
  }

  package var isLost: Bool { false }
  package func getReady() throws {}
  package func withoutTransaction<Value>(_ body: () throws -> Value) throws -> Value { try body() }
  package func renewLog() throws {}
  package var isLogMarked: Bool { get throws { false } }
  package func markLog() throws {}
  package func settleLog() throws {}
  package func eraseLog() throws -> Bool { true }
  package func analyzeUnknownTables(
    besides small: [String], _ report: (_ table: String, any Error) -> Void
  ) {}
  package var canContinue: Bool { isInTransaction }
  package var isShared: Bool { false }
  package func runLater(_ statement: Statement, _ arguments: [SQLValue]) throws {
    try run(statement, arguments)
  }

  package func beginAlone(with table: String, definedBy definition: String) throws {
    try beginWriting()
    try execute(definition)
  }

  package func beginWriting(
    with queries: [RowQuery], _ visit: (_ query: Int, any SQLRow) throws -> Void
  ) throws { try beginWriting() }
  package func runLater(_ query: RowQuery) throws {}
  package func query(_ query: RowQuery, _ visit: (any SQLRow) throws -> Void) throws {}
  package func commit() throws { try run("COMMIT", []) }
  package func rollback() throws { try run("ROLLBACK", []) }
}
