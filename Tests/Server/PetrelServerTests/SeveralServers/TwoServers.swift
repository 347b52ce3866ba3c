import PostgreSQLTesting
import Storage
import Testing

@testable import PetrelServer

/// Runs `body` with two servers of one PostgreSQL: the service's own, and another that has the same store
/// open.
///
/// - Parameter sharesClock: whether the other's clock is moved with the service's.
func withSecondServer(
  _ settings: ServiceSettings = ServiceSettings(), sharesClock: Bool = false,
  _ body: (Service, _ other: Server) async throws -> Void
) async throws {
  let schema = try await PostgreSQLServer.shared.makeStore()
  var settings = settings
  settings.postgreSQL = schema.address
  try await withService(settings) { service in
    let store = try await Store.open(
      at: service.configuration.storeLocation, configuration: Service.storeConfiguration)
    let clock = sharesClock ? service.clock : TestClock()
    let other = try Server(
      configuration: service.configuration, store: store, log: .silent, clock: clock.read)
    try other.start()
    do {
      try await body(service, other)
    } catch {
      await other.stop()
      await store.close()
      throw error
    }
    await other.stop()
    await store.close()
  }
  try await PostgreSQLServer.shared.drop(schema)
}

/// Runs `body` with two servers of one PostgreSQL, the service's own and one that has a client.
func withTwoServers(
  _ settings: ServiceSettings = ServiceSettings(), sharesClock: Bool = false,
  _ body: (Service, _ other: ServiceClient) async throws -> Void
) async throws {
  try await withSecondServer(settings, sharesClock: sharesClock) {
    try await body($0, ServiceClient(port: $1.port))
  }
}

/// Runs `body` with the clients of one server over a file, and of two over PostgreSQL: what an attacker
/// does to one he does to all.
func onBothEngines(
  _ settings: ServiceSettings = ServiceSettings(), sharesClock: Bool = false,
  _ body: (Service, _ clients: [ServiceClient]) async throws -> Void
) async throws {
  try await withService(settings) { try await body($0, [$0.client]) }
  try await withTwoServers(settings, sharesClock: sharesClock) {
    try await body($0, [$0.client, $1])
  }
}

/// Sends requests at the same time, each to one of the servers in turn.
func all(
  _ count: Int, to clients: [ServiceClient],
  _ send: @escaping @Sendable (ServiceClient, Int) async throws -> Answer
) async throws -> [Answer] {
  try await withThrowingTaskGroup(of: Answer.self) { group in
    for number in 0..<count {
      group.addTask { try await send(clients[number % clients.count], number) }
    }
    return try await group.reduce(into: []) { $0.append($1) }
  }
}
