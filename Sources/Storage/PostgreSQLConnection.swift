import CPostgreSQL
import Foundation

/// A connection to PostgreSQL.
///
/// Statements are prepared on the server once and kept. A connection that was lost is made anew for
/// the next transaction: what was under way on it has failed.
final class PostgreSQLConnection: SQLConnection {
  private let handle: OpaquePointer
  private let address: PostgreSQLAddress
  private var arguments = PostgreSQLArguments()
  /// The names of the statements that are prepared, by their texts.
  private var names: [String: Statement] = [:]
  private var isClosed = false

  private struct Statement {
    var name: String
    /// How many arguments it takes. It may be given more, which are those of the next row.
    var argumentCount: Int
  }

  /// - Throws: ``StoreError/Code/cannotOpen``.
  init(to address: PostgreSQLAddress) throws {
    self.address = address
    let keywords = [
      "application_name", "connect_timeout", "tcp_user_timeout", "dbname", "client_encoding",
    ]
    // What the address tells comes behind what it need not tell.
    let values = ["petrel", "10", "30000", address.text, "UTF8"]
    let opened = Self.withTexts(keywords) { keywords in
      Self.withTexts(values) { PQconnectdbParams(keywords, $0, 1) }
    }
    guard let opened else { throw StoreError(.cannotOpen, "there is no memory for a connection") }
    handle = opened
    petrel_ignore_notices(handle)
    guard PQstatus(handle) == CONNECTION_OK else {
      let error = StoreError(
        .cannotOpen, "PostgreSQL at \(address) cannot be reached: \(message)")
      close()
      throw error
    }
    do {
      try prepareSession()
    } catch {
      close()
      throw error
    }
  }

  deinit { close() }

  /// Every commit is on disk before it is acknowledged, whatever the server's default is.
  private func prepareSession() throws {
    names = [:]
    try execute("SET synchronous_commit = on")
    try execute("SET standard_conforming_strings = on")
  }

  // MARK: Transactions

  var isInTransaction: Bool {
    guard !isClosed else { return false }
    let status = PQtransactionStatus(handle)
    return status == PQTRANS_INTRANS || status == PQTRANS_INERROR || status == PQTRANS_ACTIVE
  }

  func beginWriting() throws {
    try reconnect()
    try run("BEGIN", [])
  }

  func beginReading() throws {
    try reconnect()
    try run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", [])
  }

  private func reconnect() throws {
    guard PQstatus(handle) != CONNECTION_OK else { return }
    PQreset(handle)
    guard PQstatus(handle) == CONNECTION_OK else {
      throw StoreError(
        .unreachable, "PostgreSQL at \(address) cannot be reached: \(message)")
    }
    try prepareSession()
  }

  // MARK: Statements

  func execute(_ script: String) throws {
    let result = PQexec(handle, script)
    defer { PQclear(result) }
    try check(result, script)
  }

  @discardableResult
  func run(_ statement: String, _ arguments: [SQLValue]) throws -> Int {
    self.arguments.set(arguments)
    return try run(statement)
  }

  @discardableResult
  func run(_ statement: String, _ arguments: borrowing SQLArguments) throws -> Int {
    self.arguments.set(arguments)
    return try run(statement)
  }

  private func run(_ text: String) throws -> Int {
    let statement = try prepared(text)
    let result = arguments.withPointers(first: statement.argumentCount) {
      PQexecPrepared(handle, statement.name, $0, $1, $2, $3, 1)
    }
    defer { PQclear(result) }
    try check(result, text)
    return Int(String(cString: PQcmdTuples(result))) ?? 0
  }

  func query(
    _ statement: String, _ arguments: [SQLValue], _ visit: (any SQLRow) throws -> Void
  ) throws {
    self.arguments.set(arguments)
    let prepared = try prepared(statement)
    let isSent = self.arguments.withPointers(first: prepared.argumentCount) {
      PQsendQueryPrepared(handle, prepared.name, $0, $1, $2, $3, 1)
    }
    guard isSent == 1 else { throw failure(nil, statement) }
    // However many rows there are, one is in memory at a time.
    PQsetSingleRowMode(handle)
    var row: PostgreSQLRow?
    var failure: (any Error)?
    while let result = PQgetResult(handle) {
      defer { PQclear(result) }
      guard failure == nil else { continue }
      do {
        try check(result, statement)
        guard PQntuples(result) > 0 else { continue }
        let standing = row ?? PostgreSQLRow(columnsOf: result)
        row = standing
        standing.stand(on: 0, of: result)
        try visit(standing)
      } catch {
        failure = error
        cancel()
      }
    }
    if let failure { throw failure }
  }

  /// Ends the statement that runs, from any thread; nobody waits for its other rows.
  private func cancel() {
    guard let cancellation = PQgetCancel(handle) else { return }
    defer { PQfreeCancel(cancellation) }
    var reason = [CChar](repeating: 0, count: 256)
    PQcancel(cancellation, &reason, Int32(reason.count))
  }

  private func prepared(_ text: String) throws -> Statement {
    if let statement = names[text] { return statement }
    let statement = Statement(
      name: "s\(names.count)", argumentCount: Self.argumentCount(of: text))
    let types = Array(arguments.types.prefix(statement.argumentCount))
    let result = PQprepare(handle, statement.name, text, Int32(types.count), types)
    defer { PQclear(result) }
    try check(result, text)
    names[text] = statement
    return statement
  }

  /// The highest number of a parameter in a statement.
  private static func argumentCount(of text: String) -> Int {
    text.matches(of: /\$([0-9]+)/).compactMap { Int($0.1) }.max() ?? 0
  }

  // MARK: Failures

  private func check(_ result: OpaquePointer?, _ statement: String) throws {
    switch PQresultStatus(result) {
    case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_SINGLE_TUPLE, PGRES_EMPTY_QUERY: return
    default: throw failure(result, statement)
    }
  }

  /// What PostgreSQL says of a failure, by its SQLSTATE (appendix A of its manual).
  private func failure(_ result: OpaquePointer?, _ statement: String) -> StoreError {
    let code =
      PQresultErrorField(result, Int32(UInt8(ascii: "C"))).map { String(cString: $0) } ?? ""
    let primary = PQresultErrorField(result, Int32(UInt8(ascii: "M"))).map { String(cString: $0) }
    let reason = "\(primary ?? message) (SQLSTATE \(code.isEmpty ? "none" : code))"
    switch code.prefix(2) {
    case "40": return StoreError(.serializationFailure, reason, statement: statement)
    case "53", "55": return StoreError(.overloaded, reason, statement: statement)
    case "XX": return StoreError(.corrupt, reason, statement: statement)
    case "08", "57", "":
      return StoreError(
        .unreachable, "the connection to PostgreSQL at \(address) is lost: \(reason)",
        statement: statement)
    default: return StoreError(.statementFailed, reason, statement: statement)
    }
  }

  private var message: String {
    String(cString: PQerrorMessage(handle)).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  // MARK: The engine's own

  /// PostgreSQL looks after its log by itself.
  var loggedPages: Int { 0 }
  func copyLog(isAlone: Bool) throws -> Int { 0 }

  /// Texts are compared by their bytes, as everywhere else.
  func definition(_ statement: String) -> String {
    statement.replacing("/*clustered*/", with: "")
      .replacing(/\bTEXT\b/, with: #"TEXT COLLATE "C""#)
  }

  func close() {
    guard !isClosed else { return }
    isClosed = true
    PQfinish(handle)
  }

  /// Calls `body` with texts as C has lists of them, with a null at the end.
  private static func withTexts<Result>(
    _ texts: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result
  ) -> Result {
    let copies = texts.map { strdup($0) }
    defer { for copy in copies { free(copy) } }
    var pointers: [UnsafePointer<CChar>?] = copies.map { UnsafePointer($0) }
    pointers.append(nil)
    // With the null it is never empty, so there is memory.
    return pointers.withUnsafeBufferPointer { body($0.baseAddress!) }
  }
}
