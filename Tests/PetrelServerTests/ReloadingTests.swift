import Cryptography
import Foundation
import Testing

@testable import PetrelServer

@Suite("Reading the configuration anew")
struct ReloadingTests {
  private func withKeys(_ body: (String) async throws -> Void) async throws {
    let folder = NSTemporaryDirectory() + "petrel-keys-" + UUID().uuidString
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try ES256PrivateKey().pem.write(toFile: folder + "/key.p8", atomically: true, encoding: .utf8)
    try await body(folder)
  }

  @Test("later requests go by the new limits; a poll that waits is not broken off")
  func limits() async throws {
    try await withService { service in
      let path = try await service.makeReader(as: service.bob)
      try await service.subscribe(
        #"{"subscriptionID": "s", "subscriptionType": "query", "firesOn": ["create"], "#
          + #""query": {"recordType": "Note"}}"#, as: service.bob)
      let poll = try service.client.begin("GET", path)
      var configuration = service.configuration
      configuration.limits.requestRates = [.user: .init(perSecond: 0.001, burst: 1)]
      #expect(try service.server.reload(configuration) == [])
      #expect(try await service.modify(Service.operation("create", "n")).outcomes == ["ok"])
      #expect(
        try await service.modify(Service.operation("create", "m")).failure == "429 THROTTLED")
      #expect(try await poll.answer().status == 200)
      configuration.limits.requestRates = [:]
      _ = try service.server.reload(configuration)
      #expect(try await service.modify(Service.operation("create", "m")).outcomes == ["ok"])
    }
  }

  @Test("other keys exchange the connections, the same leave them, and bad ones change nothing")
  func keys() async throws {
    try await withKeys { folder in
      var settings = ServiceSettings()
      let apns = ServerConfiguration.APNs(
        topic: "a", credential: .key(file: folder + "/key.p8", keyID: "K", teamID: "T"),
        host: "127.0.0.1", port: 1)
      settings.containers = [Service.container: .init(apns: apns)]
      try await withService(settings) { service in
        var configuration = service.configuration
        #expect(try service.server.reload(configuration) == [])
        let before = service.server.routes.current.apns
        try "nonsense".write(toFile: folder + "/key.p8", atomically: true, encoding: .utf8)
        configuration.limits.requestRates = [.user: .init(perSecond: 0.001, burst: 1)]
        let error = #expect(throws: ConfigurationError.self) {
          _ = try service.server.reload(configuration)
        }
        #expect(error?.description.contains("holds no usable key") == true)
        #expect(service.server.routes.current.apns === before)
        for _ in 0..<3 {
          _ = try await service.lookup("n")
        }
        #expect(service.server.requestMetrics.throttled == 0)
        configuration = service.configuration
        try ES256PrivateKey().pem.write(
          toFile: folder + "/key.p8", atomically: true, encoding: .utf8)
        #expect(try service.server.reload(configuration) == ["connections to APNs"])
        #expect(service.server.routes.current.apns !== before)
      }
    }
  }

  @Test("a change names its keys, and those that need a restart")
  func change() throws {
    var old = ConfigurationSources(directory: "/")
    old.set(["port"], to: 1, by: .flag("x"))
    old.set(["signIn", "issuers", "a", "clientSecret"], to: "one", by: .flag("x"))
    var new = old
    new.set(["port"], to: 2, by: .flag("x"))
    new.set(["signIn", "issuers", "a", "clientSecret"], to: "two", by: .flag("x"))
    new.set(["limits", "requestRates"], to: ["user": ["perSecond": 1]], by: .flag("x"))
    let change = ConfigurationChange(from: old, to: new)
    #expect(
      change.keys == [
        "port", "limits.requestRates.user.perSecond", "signIn.issuers.a.clientSecret",
      ])
    #expect(change.keysForRestart == ["port"])
    #expect(ConfigurationChange(from: new, to: new).keys.isEmpty)
  }
}
