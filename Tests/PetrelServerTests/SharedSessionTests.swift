import CloudKitModel
import PostgreSQLTesting
import Storage
import Testing

@testable import PetrelServer

@Suite("What another server changed in a shared store")
struct SharedSessionTests {
  @Test("a session that was ended elsewhere is over with the next request")
  func sessions() async throws {
    let schema = try await PostgreSQLServer.shared.makeSchema()
    try await withService(ServiceSettings(postgreSQL: schema.address)) { service in
      func status(_ user: TestUser) async throws -> Int {
        try await service.get("public/users/caller", as: user).status
      }
      #expect(try await status(service.bob) == 200)
      let elsewhere = try await SQLRecordStore.open(
        at: .postgreSQL(try PostgreSQLAddress(schema.address), assets: nil),
        configuration: StoreConfiguration(role: .tool))
      _ = try await elsewhere.endSessions(
        of: service.bob.recordName, everywhere: true, at: .now)
      #expect(try await status(service.bob) == 401)
      #expect(try await status(service.alice) == 200)
      await elsewhere.close()
    }
    try await PostgreSQLServer.shared.drop(schema)
  }
}
