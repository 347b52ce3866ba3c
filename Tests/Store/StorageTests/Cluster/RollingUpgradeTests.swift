import PostgreSQLTesting
import StoreModel
import Testing

@testable import SQLEngine
@testable import Storage

struct RollingUpgradeTests {
  private static func next(isGradual: Bool) -> [Migration] {
    let version = (Schema.migrations.last?.version ?? 0) + 1
    return Schema.migrations + [
      Migration(
        version: version, statements: ["ALTER TABLE users ADD COLUMN shoe_size BIGINT"],
        isGradual: isGradual)
    ]
  }

  private func withLocation(_ body: (StoreLocation) async throws -> Void) async throws {
    let schema = try await PostgreSQLServer.shared.makeSchema()
    try await body(.postgreSQL(try PostgreSQLAddress(schema.address), assets: nil))
    try await PostgreSQLServer.shared.drop(schema)
  }

  private func open(
    _ location: StoreLocation, _ migrations: [Migration] = Schema.migrations
  ) async throws -> Store {
    try await Store.open(
      at: location, configuration: StoreConfiguration(), migrations: migrations)
  }

  @Test("a newer server comes beside older ones, and older ones come back, after a gradual step")
  func gradual() async throws {
    try await withLocation { location in
      let old = try await open(location)
      _ = try await old.sharedCluster.registerServer("old", for: 60)
      let new = try await open(location, Self.next(isGradual: true))
      _ = try await new.sharedCluster.registerServer("new", for: 60)
      _ = try await old.accounts.addUser(named: "anna", at: .now)
      _ = try await new.accounts.addUser(named: "berta", at: .now)
      let another = try await open(location)
      #expect(try await another.accounts.users().map(\.name) == ["anna", "berta"])
      for store in [old, new, another] { await store.close() }
    }
  }

  @Test("a step that older servers would not understand waits until they are gone")
  func abrupt() async throws {
    try await withLocation { location in
      let old = try await open(location)
      let id = try await old.sharedCluster.registerServer("old", for: 60)
      let refusal = await #expect(throws: StoreError.self) {
        _ = try await open(location, Self.next(isGradual: false))
      }
      #expect(refusal?.code == .cannotOpen)
      #expect(refusal?.reason.contains("(old); stop the store's servers first") == true)
      try await old.checkWriting()
      try await old.sharedCluster.unregisterServer(id)
      await old.close()
      let new = try await open(location, Self.next(isGradual: false))
      await new.close()
      let late = await #expect(throws: StoreError.self) { _ = try await open(location) }
      #expect(late?.code == .newerSchema)
    }
  }
}
