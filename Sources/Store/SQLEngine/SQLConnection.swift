/// An argument of a statement.
package enum SQLValue: Sendable, Equatable {
  case null
  case integer(Int64)
  case text(String)
  case bytes([UInt8])

  package init(_ text: String?) { self = text.map { .text($0) } ?? .null }
  package init(_ integer: Int64?) { self = integer.map { .integer($0) } ?? .null }
}

extension SQLValue: ExpressibleByIntegerLiteral {
  package init(integerLiteral value: Int64) { self = .integer(value) }
}

/// The engines.
package enum SQLEngineKind: Sendable {
  case sqlite, postgreSQL
}

/// The current row of a query. Columns count from 0. The row is valid only during the visit.
package protocol SQLRow {
  func isNull(_ column: Int32) -> Bool
  func integer(_ column: Int32) -> Int64
  func text(_ column: Int32) -> String
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

/// One connection to an engine: the boundary between the store's statements and SQLite or
/// PostgreSQL.
///
/// A connection belongs to one thread. Statements are prepared once and kept, so their texts must
/// be constants. Parameters are written `$1`, `$2`, … as in PostgreSQL. Every failure is a
/// ``StoreError`` with the statement's text.
///
/// A third engine is a type of this protocol with an ``SQLRow`` of its own, a case of ``SQLEngineKind`` and one of
/// `StoreLocation`. `docs/internals/store.md`, "A third engine", lists what it must understand and where code depends on the
/// engine.
package protocol SQLConnection: AnyObject {
  var kind: SQLEngineKind { get }
  /// The database's name, for messages.
  var name: String { get }
  /// Runs statements without arguments and without results.
  func execute(_ script: String) throws
  /// Runs a statement and returns how many rows it changed.
  @discardableResult
  func run(_ statement: String, _ arguments: [SQLValue]) throws -> Int
  /// As ``run(_:_:)-swift.method``, for statements that run for every record.
  @discardableResult
  func run(_ statement: String, _ arguments: borrowing SQLArguments) throws -> Int
  /// Runs a statement whose result is not needed. A later statement may report its failure, at the
  /// latest the commit.
  func runLater(_ statement: String, _ arguments: [SQLValue]) throws
  /// As ``runLater(_:_:)-swift.method``, for statements that run for every record.
  func runLater(_ statement: String, _ arguments: borrowing SQLArguments) throws
  /// Runs a statement and visits its rows. The visitor must not run statements itself.
  func query(
    _ statement: String, _ arguments: [SQLValue], _ visit: (any SQLRow) throws -> Void
  ) throws
  /// Connects where needed, for statements outside of a transaction.
  func getReady() throws
  /// The read under way, if it can be cancelled.
  var read: ReadCancellation? { get set }
  /// A closure that ends the running statement, from any thread, while the connection is open.
  func interruption() -> @Sendable () -> Void
  /// Reports that a read was cancelled: its interruption may still arrive.
  func noteInterruption()
  /// Whether a transaction is open. The engine may have ended it after a severe failure.
  var isInTransaction: Bool { get }
  /// Whether other connections write at the same time, unless locks prevent it.
  var isShared: Bool { get }
  /// Starts a transaction that will write.
  func beginWriting() throws
  /// Starts a transaction that will write, and runs statements in it in one round trip.
  ///
  /// - Returns: the number that the last statement finds; nil if it finds none.
  func beginWriting(with statements: [String]) throws -> Int64?
  /// Starts a transaction that reads one snapshot of the store.
  func beginReading() throws
  /// Starts a transaction with an exclusive lock on a table, whose statements may take long.
  ///
  /// - Parameter definition: creates the table if there is none.
  func beginAlone(with table: String, definedBy definition: String) throws
  /// Makes the transaction durable; throws if that is not certain.
  func commit() throws
  /// Pages in the engine's write-ahead log after this connection's last commit.
  var loggedPages: Int { get }
  /// Copies the write-ahead log into the database, and returns how many of its pages are in the
  /// database now. Do not call it when all of them are (see ``CheckpointSchedule``).
  ///
  /// - Parameter isAlone: whether the caller keeps the writer from writing meanwhile. The call then
  ///   waits a short time for readers of the log, so that the log can restart.
  func copyLog(isAlone: Bool) throws -> Int
  /// The fastest way to insert thousands of rows into a table.
  func intake(into table: SQLTable) -> any RowIntake
  /// Runs statements that are each a transaction by itself. It repeats them once if the connection
  /// turns out to be lost.
  func withoutTransaction<Value>(_ body: () throws -> Value) throws -> Value
  /// Ensures that the whole log is on the disk, even if an earlier process failed to sync it. It
  /// does nothing if the engine does so by itself.
  func renewLog() throws
  /// Copies the log into the file and truncates it, so that neither contains deleted or overwritten
  /// data; false if a connection reads from the log for too long. It does nothing if the engine
  /// manages its log by itself.
  func eraseLog() throws -> Bool
  /// Collects the planner's statistics of tables that have none, if the engine plans by statistics.
  ///
  /// - Parameters:
  ///   - small: tables to analyze even while they are empty or nearly empty.
  ///   - report: gets each table that could not be analyzed, and the reason.
  func analyzeUnknownTables(
    besides small: [String], _ report: (_ table: String, any Error) -> Void)
  /// Translates a table definition from the store's dialect into the engine's.
  func definition(_ statement: String) -> String
  func close()
}

extension SQLConnection {
  /// Rolls back the open transaction, if any, after a failure in it.
  ///
  /// A failed rollback is not reported: the caller reports the first failure, and the engine rolls
  /// back by itself when the connection is closed or lost.
  package func giveUpTransaction() {
    if isInTransaction { try? rollback() }
  }
}

extension SQLConnection {
  @inlinable package func rows<Value>(
    _ statement: String, _ arguments: [SQLValue], _ read: (any SQLRow) throws -> Value
  ) throws -> [Value] {
    var values: [Value] = []
    try query(statement, arguments) { values.append(try read($0)) }
    return values
  }

  /// The first row; nil if there is none.
  @inlinable package func first<Value>(
    _ statement: String, _ arguments: [SQLValue], _ read: (any SQLRow) throws -> Value
  ) throws -> Value? {
    var value: Value?
    try query(statement, arguments) { if value == nil { value = try read($0) } }
    return value
  }

  package func getReady() throws {}
  package func withoutTransaction<Value>(_ body: () throws -> Value) throws -> Value { try body() }
  package func renewLog() throws {}
  package func eraseLog() throws -> Bool { true }
  package func analyzeUnknownTables(
    besides small: [String], _ report: (_ table: String, any Error) -> Void
  ) {}
  /// A condition for rows whose `column` contains the bytes of a parameter.
  package func contains(_ parameter: String, in column: String) -> String {
    switch kind {
    case .sqlite: "INSTR(\(column), \(parameter)) > 0"
    case .postgreSQL: "POSITION(\(parameter) IN \(column)) > 0"
    }
  }
  package var isShared: Bool { false }
  package func runLater(_ statement: String, _ arguments: [SQLValue]) throws {
    try run(statement, arguments)
  }

  package func runLater(_ statement: String, _ arguments: borrowing SQLArguments) throws {
    try run(statement, arguments)
  }

  package func beginAlone(with table: String, definedBy definition: String) throws {
    try beginWriting()
    try execute(definition)
  }

  package func beginWriting(with statements: [String]) throws -> Int64? {
    try beginWriting()
    guard let last = statements.last else { return nil }
    for statement in statements.dropLast() { try execute(statement) }
    return try first(last, []) { $0.integer(0) }
  }

  package func commit() throws { try run("COMMIT", []) }
  package func rollback() throws { try run("ROLLBACK", []) }
}
