import CloudKitModel
import Foundation
import JSONCoding
import PostgreSQLTesting
import Storage
import Testing

@testable import PetrelServer

@Suite("What counts on all servers of a shared store")
struct SharedServersTests {
  /// The first server is the service's; the other has the same store open.
  private func withTwo(
    _ settings: ServiceSettings = ServiceSettings(),
    _ body: (Service, _ other: ServiceClient) async throws -> Void
  ) async throws {
    let schema = try await PostgreSQLServer.shared.makeSchema()
    var settings = settings
    settings.postgreSQL = schema.address
    try await withService(settings) { service in
      let store = try await SQLRecordStore.open(
        at: service.configuration.storeLocation, configuration: Service.storeConfiguration)
      let other = try Server(configuration: service.configuration, store: store, log: .silent)
      try other.start()
      do {
        try await body(service, ServiceClient(port: other.port))
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

  @Test("a session that was ended at one is over with the next request at the other")
  func sessions() async throws {
    try await withTwo { service, other in
      func status(_ user: TestUser) async throws -> Int {
        try await other.send("GET", service.target("public/users/caller", as: user)).status
      }
      #expect(try await status(service.bob) == 200)
      _ = try await service.store.endSessions(
        of: service.bob.recordName, everywhere: true, at: .now)
      #expect(try await status(service.bob) == 401)
      #expect(try await status(service.alice) == 200)
    }
  }

  @Test("requests at both count together")
  func rates() async throws {
    var limits = ServerConfiguration.Limits()
    // So slow that the test does not see a bucket fill by itself.
    limits.requestRates = [.user: RequestRate(perSecond: 0.001, burst: 4)]
    try await withTwo(ServiceSettings(limits: limits)) { service, other in
      let target = service.target("public/users/caller", as: service.bob)
      var failures: [String] = []
      for number in 0..<6 {
        let answer = try await (number % 2 == 0 ? service.client : other).send("GET", target)
        failures.append(answer.failure)
      }
      #expect(failures == Array(repeating: "200 -", count: 4) + ["429 THROTTLED", "429 THROTTLED"])
    }
  }

  @Test("a file that one took is downloaded from the other, and by a URL that the other made")
  func assets() async throws {
    try await withTwo { service, other in
      let announced = try await service.post(
        "private/assets/upload",
        #"{"tokens": [{"recordName": "a", "recordType": "Note", "fieldName": "file"}]}"#,
        as: service.alice)
      let upload = try #require(announced.json["tokens"]?.array?.first?["url"]?.string)
      func path(_ url: String) throws -> String {
        try #require(url.range(of: "/assets/").map { String(url[$0.lowerBound...]) })
      }
      let uploaded = try await other.send("POST", try path(upload), body: Data("bytes".utf8))
      let asset = try #require(uploaded.json["singleFile"], "\(uploaded.json)")
      let saved = try await service.modify(
        Service.operation("create", "a", #""file": {"value": \#(asset.text)}"#), in: "private")
      #expect(saved.outcomes == ["ok"], "\(saved.json)")
      for client in [service.client, other] {
        let found = try await client.send(
          "POST", service.target("private/records/lookup", as: service.alice),
          body: Data(#"{"records": ["a"]}"#.utf8))
        let url = try #require(found[0].field("file")?["downloadURL"]?.string, "\(found.json)")
        for other in [service.client, other] {
          #expect(try await other.send("GET", try path(url)).body == Data("bytes".utf8))
        }
      }
    }
  }
}
