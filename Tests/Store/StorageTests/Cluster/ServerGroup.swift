import CloudKitModel
import Foundation
import PostgreSQLTesting
import Synchronization
import Testing

@testable import SQLEngine
@testable import Storage

/// Servers that have one store on PostgreSQL open at the same time.
struct ServerGroup {
  let servers: [TestStore]
  let address: PostgreSQLAddress

  /// Opens the store with all of them at once, and closes it again.
  static func with(
    servers count: Int, configure: (inout StoreConfiguration) -> Void = { _ in },
    _ body: (ServerGroup) async throws -> Void
  ) async throws {
    let schema = try await PostgreSQLServer.shared.makeSchema()
    let address = try PostgreSQLAddress(schema.address)
    var configuration = StoreConfiguration()
    configuration.writers = 3
    // A test may hold a transaction.
    configuration.tuning.lockedIdleTimeoutMilliseconds = 60_000
    configure(&configuration)
    let stores = try await withThrowingTaskGroup(of: Store.self) { [configuration] group in
      for _ in 0..<count {
        group.addTask {
          try await Store.open(
            at: .postgreSQL(address, assets: nil), configuration: configuration)
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    let servers = try await withThrowingTaskGroup(of: TestStore.self) { group in
      for store in stores { group.addTask { try await TestStore(store) } }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    try await body(ServerGroup(servers: servers, address: address))
    for store in stores { await store.close() }
    try await PostgreSQLServer.shared.drop(schema)
  }

  func store(_ index: Int) -> Store { servers[index].store }

  /// How many statements wait for a lock that another one has.
  func waitingCount() async throws -> Int64 {
    try await Store.onThread { [address] in
      let connection = try PostgreSQLConnection(to: address)
      defer { connection.close() }
      return try connection.first(
        """
        SELECT COUNT(*) FROM pg_locks WHERE NOT granted AND pid IN (
          SELECT pid FROM pg_locks WHERE relation IN (
            SELECT oid FROM pg_class WHERE relnamespace = current_schema()::regnamespace))
        """, []
      ) { $0.integer(0) } ?? 0
    }
  }

  /// The numbers that a statement finds, of one column.
  func integers(_ statement: Statement) async throws -> [Int64] {
    try await store(0).transactions.read { transaction in
      try transaction.connection.rows(statement, []) { $0.integer(0) }
    }
  }
}

/// A signal from one task to others.
final class Flag: Sendable {
  private let value = Mutex(false)

  var isUp: Bool { value.withLock { $0 } }

  func raise() { value.withLock { $0 = true } }
}
