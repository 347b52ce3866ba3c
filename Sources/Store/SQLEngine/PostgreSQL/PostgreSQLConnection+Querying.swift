import CPostgreSQL
import Foundation

extension PostgreSQLConnection {
  /// The time for the unread part of a result before the statement is cancelled. A cancellation
  /// costs another connection and 2 to 4 ms of processor time.
  private static let cancellationDelay = Duration.milliseconds(4)

  package func query(
    _ statement: Statement, _ arguments: [SQLValue], _ visit: (any SQLRow) throws -> Void
  ) throws {
    try read?.check()
    let known = try pass(statement)
    try self.arguments.set(arguments)
    try query(known, visit)
  }

  package func query(_ query: RowQuery, _ visit: (any SQLRow) throws -> Void) throws {
    try read?.check()
    let known = try pass(query.statement)
    try set(query)
    try self.query(known, visit)
  }

  private func query(
    _ statement: PostgreSQLStatement, _ visit: (any SQLRow) throws -> Void
  ) throws {
    try settle()
    try prepare(statement)
    let isSent = self.arguments.withPointers(first: statement.argumentCount) {
      PQsendQueryPrepared(handle, statement.name, $0, $1, $2, $3, 1)
    }
    guard isSent == 1 else { throw failure(nil, statement.text) }
    // Only one row at a time is in memory.
    PQsetSingleRowMode(handle)
    var row: PostgreSQLRow?
    var failure: (any Error)?
    while let result = exchange.nextResult() {
      defer { PQclear(result) }
      guard failure == nil else { continue }
      do {
        try check(result, statement.text)
      } catch {
        failure = error
        continue
      }
      guard PQntuples(result) > 0 else { continue }
      do {
        let standing = row ?? PostgreSQLRow(columnsOf: result)
        row = standing
        standing.stand(on: 0, of: result)
        try visit(standing)
      } catch {
        failure = error
        // The other rows are not wanted.
        if !endsSoon() { cancellation()?.send() }
      }
    }
    if let failure { throw failure }
  }

  private func endsSoon() -> Bool {
    let end = ContinuousClock.now + Self.cancellationDelay
    while true {
      while PQisBusy(handle) == 0 {
        guard let result = PQgetResult(handle) else { return true }
        PQclear(result)
        if ContinuousClock.now > end { return false }
      }
      let left = (end - .now) / .milliseconds(1)
      guard left > 0 else { return false }
      var waited = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
      _ = poll(&waited, 1, Int32(left.rounded(.up)))
      guard PQconsumeInput(handle) == 1 else { return true }
    }
  }
}

/// A statement that ran in a session.
final class PostgreSQLStatement {
  let text: String
  let name: String
  let argumentCount: Int
  var isPrepared = false
  var effects: StatementEffects?

  init(_ text: String, number: Int) {
    self.text = text
    name = "s\(number)"
    argumentCount =
      text.utf8.split(separator: UInt8(ascii: "$"), omittingEmptySubsequences: false).dropFirst()
      .compactMap { Int(Substring($0.prefix { (0x30...0x39).contains($0) })) }.max() ?? 0
  }
}
