/// An argument of a statement.
enum SQLValue: Sendable, Equatable {
  case null
  case integer(Int64)
  case text(String)
  case bytes([UInt8])

  init(_ text: String?) { self = text.map { .text($0) } ?? .null }
  init(_ integer: Int64?) { self = integer.map { .integer($0) } ?? .null }
}

extension SQLValue: ExpressibleByIntegerLiteral {
  init(integerLiteral value: Int64) { self = .integer(value) }
}

/// The row that a query stands on. Columns count from 0; it is valid only while it is visited.
protocol SQLRow {
  func isNull(_ column: Int32) -> Bool
  func integer(_ column: Int32) -> Int64
  func text(_ column: Int32) -> String
  func bytes(_ column: Int32) -> [UInt8]
  /// The bytes of a text or of bytes where the engine has them, valid as long as the row.
  func buffer(_ column: Int32) -> UnsafeRawBufferPointer
  /// The key of an entry of the value index.
  func key(_ column: Int32) -> IndexKey
}

extension SQLRow {
  func key(_ column: Int32) -> IndexKey { IndexKey(bytes(column)) }
  func optionalInteger(_ column: Int32) -> Int64? { isNull(column) ? nil : integer(column) }
  func optionalText(_ column: Int32) -> String? { isNull(column) ? nil : text(column) }
}

/// One connection to an engine: the seam between the store's statements and SQLite or PostgreSQL.
///
/// A connection belongs to one thread. Statements are prepared once and kept, so their texts must
/// be constants; parameters are written `$1`, `$2`, … as PostgreSQL does. Every failure is a
/// ``StoreError`` that carries the statement's text.
protocol SQLConnection: AnyObject {
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
  /// Starts a transaction that will write, and has these locks before it reads anything. Answers the
  /// schemas' version as it is then, where that is to be had for nothing.
  func beginWriting(locking locks: WriteLocks) throws -> Int64?
  /// Starts a transaction that sees one state of the store.
  func beginReading() throws
  /// Starts a transaction that changes the form of the store: nobody else does so meanwhile, and its
  /// statements may take long.
  func beginMigrating() throws
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
  /// Turns a table definition in the store's own words into the engine's.
  func definition(_ statement: String) -> String
  func close()
}

extension SQLConnection {
  func rows<Value>(
    _ statement: String, _ arguments: [SQLValue], _ read: (any SQLRow) throws -> Value
  ) throws -> [Value] {
    var values: [Value] = []
    try query(statement, arguments) { values.append(try read($0)) }
    return values
  }

  /// The first row, or nil when there is none.
  func first<Value>(
    _ statement: String, _ arguments: [SQLValue], _ read: (any SQLRow) throws -> Value
  ) throws -> Value? {
    var value: Value?
    try query(statement, arguments) { if value == nil { value = try read($0) } }
    return value
  }

  func getReady() throws {}
  var isShared: Bool { false }
  func runLater(_ statement: String, _ arguments: [SQLValue]) throws {
    try run(statement, arguments)
  }

  func runLater(_ statement: String, _ arguments: borrowing SQLArguments) throws {
    try run(statement, arguments)
  }

  func beginMigrating() throws { try beginWriting() }

  func beginWriting(locking locks: WriteLocks) throws -> Int64? {
    try beginWriting()
    return nil
  }

  func commit() throws { try run("COMMIT", []) }
  func rollback() throws { try run("ROLLBACK", []) }
}
