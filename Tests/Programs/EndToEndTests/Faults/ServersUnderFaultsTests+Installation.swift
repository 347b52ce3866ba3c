import Foundation
import JSONCoding
import PostgreSQLTesting
import ProxySimulation
import StoreModel
import Synchronization
import Testing
import Waiting

@testable import SQLEngine
@testable import Storage

extension ServersUnderFaultsTests {
  /// PostgreSQL, the servers, and what lies between them.
  final class Installation: @unchecked Sendable {
    let postgreSQL = PostgreSQLServer()
    let folder: String
    let schema: PostgreSQLServer.Schema
    /// Beside the servers, as a tool is.
    let store: Store
    let proxies: [HoldingProxy]
    // Changed by the one task that strikes, and read by the others through the mutex.
    var servers: [Program] = []
    private let ports = Mutex<[Int]>([0, 0, 0])

    init() async throws {
      folder = NSTemporaryDirectory() + "petrel-faults-" + UUID().uuidString
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      schema = try await postgreSQL.makeSchema()
      let socket = try await postgreSQL.socket
      proxies = try (0..<3).map { _ in try HoldingProxy(to: .socket(path: socket)) }
      store = try await Store.open(
        at: .postgreSQL(try PostgreSQLAddress(schema.address), assets: folder + "/assets"),
        configuration: StoreConfiguration(role: .tool))
    }

    func start() async throws {
      let settings: JSONValue = [
        "webhooks": [
          "allowedNetworks": ["127.0.0.0/8"], "allowsHTTP": true, "timeoutSeconds": 2,
        ]
      ]
      for number in 0..<3 {
        let data = folder + "/\(number)"
        try FileManager.default.createDirectory(atPath: data, withIntermediateDirectories: true)
        try settings.text.write(
          toFile: data + "/server.json", atomically: true, encoding: .utf8)
        servers.append(try await run(number))
      }
    }

    func restart(_ number: Int) async throws { servers[number] = try await run(number) }

    private func run(_ number: Int) async throws -> Program {
      let program = try Program(
        "petrel",
        [
          "serve", "--data", folder + "/\(number)", "--port", "0", "--store",
          schema.address(overPort: proxies[number].port),
        ], in: folder)
      let line = try await program.line(containing: "petrel listens on")
      let port = try #require(line.matches(of: /:([0-9]+)/).last.flatMap { Int($0.1) })
      ports.withLock { $0[number] = port }
      try await eventually("the server is registered") {
        try await serverID(ofPort: port) != nil
      }
      return program
    }

    func port(of number: Int) -> Int { ports.withLock { $0[number] } }

    func registered() async throws -> [ServerID] { try await known().map(\.id) }

    /// The servers that are registered; waits for PostgreSQL to be there.
    private func known() async throws -> [RegisteredServer] {
      var known: [RegisteredServer] = []
      try await eventually("PostgreSQL can be asked") {
        guard let found = try? await store.servers?.servers() else { return false }
        known = found
        return true
      }
      return known
    }

    func serverID(of number: Int) async throws -> ServerID {
      let id = try await serverID(ofPort: port(of: number))
      return try #require(id)
    }

    private func serverID(ofPort port: Int) async throws -> ServerID? {
      try await known().last { $0.description.contains(":\(port),") }?.id
    }

    func end() async {
      for server in servers where server.isRunning { try? await server.kill() }
      await store.close()
      for proxy in proxies { proxy.close() }
      await postgreSQL.end()
      try? FileManager.default.removeItem(atPath: folder)
    }
  }
}
