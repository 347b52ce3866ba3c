import CPostgreSQL
import Foundation
import PostgreSQLHosting
import SQLEngine
import Storage

/// A PostgreSQL of the tests' own, with its data in a temporary directory. It ends with the process
/// that started it, however that ends.
public actor PostgreSQLServer {
  /// The one that the tests of a process share.
  public static let shared = PostgreSQLServer()

  private struct Failure: Error, CustomStringConvertible {
    var description: String
  }

  private var started: Task<HostedPostgreSQL, any Error>?
  private var schemaCount = 0
  /// Makes the store that others are copies of.
  private var template: Task<Void, any Error>?

  /// A place for one store: nothing else of the server is seen from there.
  public struct Schema: Sendable {
    public let name: String
    /// As libpq takes it.
    public let address: String
    /// Whether it is a database of its own.
    fileprivate var isDatabase = false

    /// The address for one who reaches the server at a port of this machine.
    public func address(overPort port: Int) -> String {
      "postgres://petrel@127.0.0.1:\(port)/postgres?options=-csearch_path%3D\(name)"
    }
  }

  /// One for a test that stops it, and calls ``end()``.
  public init() {}

  /// One of the test's own, that ends with it.
  public static func withServer<Value>(
    _ body: (PostgreSQLServer) async throws -> Value
  ) async throws -> Value {
    let server = PostgreSQLServer()
    let result: Result<Value, any Error>
    do { result = .success(try await body(server)) } catch { result = .failure(error) }
    await server.end()
    return try result.get()
  }

  /// Stops it for good.
  public func end() async {
    guard let server = try? await started?.value else { return }
    try? await Self.blocking { server.end() }
  }

  /// Stops it as when the power fails, and starts it again.
  public func restart() async throws {
    try await stop()
    try await startAgain()
  }

  public func stop() async throws { try await step { try $0.stop() } }
  public func startAgain() async throws { try await step { try $0.startAgain() } }

  private func step(
    _ step: @escaping @Sendable (HostedPostgreSQL) throws -> Void
  ) async throws {
    let server = try await start()
    try await Self.blocking { try step(server) }
  }

  /// The socket that it listens on.
  public var socket: String {
    get async throws { try await start().directory + "/.s.PGSQL.5432" }
  }

  /// Cuts the connections of all who use it.
  public func cutConnections() async throws {
    try await execute(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'petrel'")
  }

  public func execute(_ statement: String) async throws {
    let address = if let citus = Self.citus { citus } else { try await start().address() }
    try await Self.execute(statement, at: address)
  }

  /// Where the tests find a Citus of somebody's, in place of a PostgreSQL of their own: the coordinator,
  /// as libpq takes it, without `options`. Stores are distributed there.
  ///
  /// Tests that stop the server fail there.
  public static let citus = ProcessInfo.processInfo.environment["PETREL_TEST_CITUS"]

  public func makeSchema() async throws -> Schema {
    schemaCount += 1
    let name = "test_\(schemaCount)"
    if let citus = Self.citus {
      try await Self.execute(
        "DROP SCHEMA IF EXISTS \(name) CASCADE; CREATE SCHEMA \(name)", at: citus)
      let separator = citus.contains("?") ? "&" : "?"
      let address = citus + "\(separator)options=-csearch_path%3D\(name)"
      try await StoreDistribution.begin(at: try PostgreSQLAddress(address), shardCount: 4)
      return Schema(name: name, address: address)
    }
    let server = try await start()
    try await Self.execute("CREATE SCHEMA \(name)", at: server.address())
    return Schema(name: name, address: server.address(options: "-csearch_path=\(name)"))
  }

  /// A place with an empty store in it. It is a copy of one, for which PostgreSQL takes half of the time
  /// that the statements take which make a store.
  public func makeStore() async throws -> Schema {
    // Citus copies no database.
    guard Self.citus == nil else { return try await makeSchema() }
    let server = try await start()
    let template =
      template
      ?? Task {
        try await Self.execute("CREATE DATABASE store", at: server.address())
        let address = try PostgreSQLAddress(server.address(database: "store"))
        // A server would note which tables it serves, and refuse the copies.
        try await Store.open(
          at: .postgreSQL(address, assets: nil), configuration: StoreConfiguration(role: .tool)
        ).close()
      }
    self.template = template
    try await template.value
    schemaCount += 1
    let name = "store_\(schemaCount)"
    try await Self.execute(
      "CREATE DATABASE \(name) TEMPLATE store STRATEGY FILE_COPY", at: server.address())
    return Schema(name: name, address: server.address(database: name), isDatabase: true)
  }

  public func drop(_ schema: Schema) async throws {
    try await execute(
      schema.isDatabase
        ? "DROP DATABASE \(schema.name) WITH (FORCE)" : "DROP SCHEMA \(schema.name) CASCADE")
  }

  private func start() async throws -> HostedPostgreSQL {
    if let started { return try await started.value }
    let task = Task {
      try await Self.blocking {
        try HostedPostgreSQL(
          in: Self.folder() + "petrel-pg-\(UUID().uuidString.prefix(8))",
          settings: [
            "fsync = off", "shared_buffers = 16MB",
            "max_connections = 300",
          ])
      }
    }
    started = task
    return try await task.value
  }

  /// In memory where there is enough of it: each store is some hundred files, which a disk takes longer to
  /// make and to remove than the tests take.
  private static func folder() -> String {
    let memory = "/dev/shm/"
    let free = try? FileManager.default.attributesOfFileSystem(forPath: memory)[.systemFreeSize]
    return (free as? Int ?? 0) > 4 << 30 ? memory : NSTemporaryDirectory()
  }

  private static func blocking<Value: Sendable>(
    _ body: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    try await withCheckedThrowingContinuation { continuation in
      DispatchQueue(label: "petrel.tests.postgresql").async {
        continuation.resume(with: Result { try body() })
      }
    }
  }

  private static func execute(_ statement: String, at address: String) async throws {
    try await blocking {
      let connection = PQconnectdb(address)
      defer { PQfinish(connection) }
      guard PQstatus(connection) == CONNECTION_OK else {
        throw Failure(description: String(cString: PQerrorMessage(connection)))
      }
      PQclear(PQexec(connection, "SET client_min_messages = error"))
      let result = PQexec(connection, statement)
      defer { PQclear(result) }
      let status = PQresultStatus(result)
      guard status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK else {
        let reason = String(cString: PQerrorMessage(connection))
        throw Failure(description: "'\(statement)' failed: \(reason)")
      }
    }
  }
}
