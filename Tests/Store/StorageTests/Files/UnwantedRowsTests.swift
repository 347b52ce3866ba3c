import Foundation
import PostgreSQLTesting
import Testing

@testable import SQLEngine
@testable import Storage

@Suite(.timeLimit(.minutes(1)))
struct UnwantedRowsTests {
  private struct Enough: Error {}

  /// Asks for numbers from 1, wants the first, and then uses the connection for something else.
  private func stop(after wanted: Int = 1, of count: Int, on connection: PostgreSQLConnection)
    throws
  {
    var seen = 0
    #expect(throws: Enough.self) {
      try connection.query("SELECT generate_series(1, $1::int8)", [.integer(Int64(count))]) { _ in
        seen += 1
        if seen == wanted { throw Enough() }
      }
    }
    #expect(seen == wanted)
    #expect(try connection.first("SELECT 7::int8", []) { $0.integer(0) } == 7)
  }

  private func withConnection(_ body: (PostgreSQLConnection) throws -> Void) async throws {
    let server = PostgreSQLServer.shared
    let schema = try await server.makeSchema()
    // Without a limit of time, which would end what is to be cancelled.
    let connection = try PostgreSQLConnection(
      to: try PostgreSQLAddress(schema.address), settings: .init(statementTimeout: 0))
    try body(connection)
    connection.close()
    try await server.drop(schema)
  }

  @Test("a statement with many rows left is cancelled")
  func many() async throws {
    try await withConnection { try stop(of: 1_000_000_000_000, on: $0) }
  }

  @Test("the few rows left of a statement are read, for which no other connection is made")
  func few() async throws {
    let server = PostgreSQLServer.shared
    let log = (try await server.socket as NSString).deletingLastPathComponent + "/log"
    func connectionCount() throws -> Int {
      try String(contentsOfFile: log, encoding: .utf8).components(
        separatedBy: "connection received"
      ).count
    }
    try await withConnection { connection in
      try connection.execute("ALTER SYSTEM SET log_connections = on")
      try connection.execute("SELECT pg_reload_conf()")
      defer {
        try? connection.execute("ALTER SYSTEM RESET log_connections")
        try? connection.execute("SELECT pg_reload_conf()")
      }
      func connect() throws -> Bool {
        let before = try connectionCount()
        try PostgreSQLConnection(to: connection.address).close()
        return try connectionCount() > before
      }
      while try !connect() {}
      let before = try connectionCount()
      for wanted in 1...20 { try stop(after: wanted, of: 20, on: connection) }
      // The connection waits 4 ms for the rows before it cancels, which a busy machine can exceed.
      #expect(try connectionCount() - before < 10)
    }
  }
}
