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

/// The row that a query stands on. Columns count from 0; it is valid only while it is visited.
package protocol SQLRow {
  func isNull(_ column: Int32) -> Bool
  func integer(_ column: Int32) -> Int64
  func text(_ column: Int32) -> String
  func bytes(_ column: Int32) -> [UInt8]
  /// The bytes of a text or of bytes where the engine has them, valid as long as the row.
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

/// One connection to an engine: the seam between the store's statements and SQLite or PostgreSQL.
///
/// A connection belongs to one thread. Statements are prepared once and kept, so their texts must
/// be constants; parameters are written `$1`, `$2`, … as PostgreSQL does. Every failure is a
/// ``StoreError`` that carries the statement's text.
package protocol SQLConnection: AnyObject {
  var kind: SQLEngineKind { get }
  /// Where it leads to, for messages.
  var name: String { get }
  /// Runs statements without arguments and without results.
  func execute(_ script: String) throws
  /// Runs a statement and returns how many rows it changed.
  @discardableResult
  func run(_ statement: String, _ arguments: [SQLValue]) throws -> Int
  /// As ``run(_:_:)-swift.method``, for statements that run for every record.
  @discardableResult
  func run(_ statement: String, _ arguments: borrowing SQLArguments) throws -> Int
  /// Runs a statement whose result is of no interest: that it failed may be told by a later one, at the
  /// latest by the commit.
  func runLater(_ statement: String, _ arguments: [SQLValue]) throws
  /// As ``runLater(_:_:)-swift.method``, for statements that run for every record.
  func runLater(_ statement: String, _ arguments: borrowing SQLArguments) throws
  /// Runs a statement and visits its rows. The visitor must not run statements itself.
  func query(
    _ statement: String, _ arguments: [SQLValue], _ visit: (any SQLRow) throws -> Void
  ) throws
  /// Sees to it that there is a connection, for statements outside of a transaction.
  func getReady() throws
  /// The read that is under way, where it may be given up.
  var read: ReadCancellation? { get set }
  /// What ends the statement that runs, from any thread, as long as the connection is open.
  func interruption() -> @Sendable () -> Void
  /// A read was given up: an interruption that was meant for it may still come.
  func noteInterruption()
  /// Whether a transaction is open. The engine may have ended it after a grave failure.
  var isInTransaction: Bool { get }
  /// Whether others write to the store at the same time, unless they are kept from it by locks.
  var isShared: Bool { get }
  /// Starts a transaction that will write.
  func beginWriting() throws
  /// Starts a transaction that will write, and runs statements in it: one way to the server and back.
  ///
  /// - Returns: the number that the last of them finds; nil when it finds none.
  func beginWriting(with statements: [String]) throws -> Int64?
  /// Starts a transaction that sees one state of the store.
  func beginReading() throws
  /// Starts a transaction that has a table for itself, whose statements may take long.
  ///
  /// - Parameter definition: makes the table where there is none.
  func beginAlone(with table: String, definedBy definition: String) throws
  /// Makes what the transaction wrote durable, or throws when it cannot be known to be.
  func commit() throws
  /// Pages in the engine's write-ahead log after this connection's last commit.
  var loggedPages: Int { get }
  /// Copies what is in the write-ahead log into the database, and answers how many of its pages are
  /// there now. Not while all of them are (see ``CheckpointSchedule``).
  ///
  /// - Parameter isAlone: Nobody writes meanwhile, and those who read from the log are waited for, a
  ///   little while, so that it can begin anew.
  func copyLog(isAlone: Bool) throws -> Int
  /// What takes rows by the thousand into a table the quickest way.
  func intake(into table: SQLTable) -> any RowIntake
  /// Runs statements that are each a transaction by itself; once more when the connection turns out to
  /// have been lost.
  func withoutTransaction<Value>(_ body: () throws -> Value) throws -> Value
  /// Sees to it that all which the engine's log holds is on the disk, whatever a process before this one
  /// met with. Where the engine does so by itself, it does nothing.
  func renewLog() throws
  /// Copies the log into the file and cuts it off, so that neither holds anything that was deleted or
  /// overwritten; false when somebody reads from the log for longer than a moment. It does nothing where the
  /// engine's log is its own.
  func eraseLog() throws -> Bool
  /// Has the engine look at what tables hold where it never has, when it plans by that.
  ///
  /// - Parameters:
  ///   - small: tables to look at even while they are empty or nearly.
  ///   - report: takes the tables that it could not look at, and why. The others were.
  func analyzeUnknownTables(
    besides small: [String], _ report: (_ table: String, any Error) -> Void)
  /// Turns a table definition in the store's own words into the engine's.
  func definition(_ statement: String) -> String
  func close()
}

extension SQLConnection {
  /// Rolls back the open transaction, if there is one, after something in it failed.
  ///
  /// A rollback that fails is not reported: the caller has the first failure to report, and the engine rolls back by itself
  /// when the connection is closed or lost.
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

  /// The first row, or nil when there is none.
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
  /// A condition for rows whose `column` has the bytes of a parameter in a row somewhere.
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
