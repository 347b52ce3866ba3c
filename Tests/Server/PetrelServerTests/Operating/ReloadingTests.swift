import Cryptography
import Foundation
import OutboundHTTP
import PushChannels
import Settings
import Testing

@testable import Configuration
@testable import PetrelServer

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
      let apns = APNsSettings(
        topics: ["a"], credential: .key(file: folder + "/key.p8", keyID: "K", teamID: "T"),
        host: "127.0.0.1", port: 1)
      settings.containers = [Service.container: .init(channels: ChannelSettings { $0.apns = apns })]
      try await withService(settings) { service in
        var configuration = service.configuration
        #expect(try service.server.reload(configuration) == [])
        let before = service.server.channels.channel(APNsChannel.self)
        try "nonsense".write(toFile: folder + "/key.p8", atomically: true, encoding: .utf8)
        configuration.limits.requestRates = [.user: .init(perSecond: 0.001, burst: 1)]
        let error = #expect(throws: ConfigurationError.self) {
          _ = try service.server.reload(configuration)
        }
        #expect(error?.description.contains("does not contain a usable key") == true)
        #expect(service.server.channels.channel(APNsChannel.self) === before)
        for _ in 0..<3 {
          _ = try await service.lookup("n")
        }
        #expect(service.server.requestMetrics.throttled == 0)
        configuration = service.configuration
        try ES256PrivateKey().pem.write(
          toFile: folder + "/key.p8", atomically: true, encoding: .utf8)
        #expect(try service.server.reload(configuration) == ["connections to APNs"])
        #expect(service.server.channels.channel(APNsChannel.self) !== before)
      }
    }
  }

  @Test("who may use the admin API and the console goes by the new configuration, sessions stay")
  func admin() async throws {
    try await withService { service in
      let key = try await service.addAdminKey()
      let cookie = try await service.beginConsoleSession(key)
      func status(_ address: String? = nil, _ path: String = "session") async throws -> Int {
        let headers = address.map { "X-Real-IP: \($0)\r\n" } ?? ""
        return try await service.adminGet(path, key: nil, headers: headers + cookie).status
      }
      #expect(try await status() == 200)
      var configuration = service.configuration
      configuration.admin.networks = [try #require(IPNetwork("10.0.0.0/8"))]
      _ = try service.server.reload(configuration)
      #expect(try await status() == 403)
      // Without a name for the header field nobody knows who is behind the proxy.
      #expect(try await status("10.1.2.3") == 403)
      configuration.limits.clientAddressHeader = "X-Real-IP"
      _ = try service.server.reload(configuration)
      #expect(try await status("10.1.2.3") == 200)
      #expect(try await status("192.0.2.1") == 403)
      configuration.admin.networks = []
      configuration.admin.hasConsole = false
      _ = try service.server.reload(configuration)
      #expect(try await status() == 200)
      #expect(try await service.client.send("GET", "/console/").status == 404)
      configuration.admin.isEnabled = false
      _ = try service.server.reload(configuration)
      #expect(try await status() == 404)
      _ = try service.server.reload(service.configuration)
      #expect(try await status() == 200)
      #expect(try await service.client.send("GET", "/console/").status != 404)
    }
  }

  @Test("a container that the new configuration names is in the admin API's list at once")
  func containerList() async throws {
    try await withService { service in
      let key = try await service.addAdminKey()
      func listed() async throws -> [String?] {
        try await service.adminGet("containers", key: key).json["containers"]?.array?
          .map { $0["container"]?.string } ?? []
      }
      var configuration = service.configuration
      configuration.containers = [:]
      _ = try service.server.reload(configuration)
      #expect(try await listed() == [])
      configuration.containers["iCloud.com.example.new"] = .init()
      _ = try service.server.reload(configuration)
      #expect(try await listed() == ["iCloud.com.example.new"])
      configuration.containers = [:]
      _ = try service.server.reload(configuration)
      #expect(try await listed() == [])
    }
  }

  @Test("wrong admin keys are counted by the address in the new header field")
  func adminAttempts() async throws {
    try await withService { service in
      var configuration = service.configuration
      configuration.limits.clientAddressHeader = "X-Real-IP"
      configuration.admin.isEnabled = true
      _ = try service.server.reload(configuration)
      func status(_ address: String) async throws -> Int {
        try await service.adminGet("session", key: "wrong", headers: "X-Real-IP: \(address)\r\n")
          .status
      }
      let refusal = try await status("192.0.2.1")
      var last = refusal
      for _ in 0..<30 where last == refusal { last = try await status("192.0.2.1") }
      #expect(last == 429)
      #expect(try await status("192.0.2.2") == refusal)
    }
  }

  @Test("an address that a restart is needed for does not open the admin API before it")
  func adminAddress() async throws {
    var settings = ServiceSettings()
    settings.publicURL = "https://cloud.example.com"
    try await withService(settings) { service in
      let key = try await service.addAdminKey()
      #expect(try await service.adminGet("session", key: key).status == 404)
      var configuration = service.configuration
      configuration.publicURL = nil
      #expect(configuration.servesAdmin)
      _ = try service.server.reload(configuration)
      #expect(try await service.adminGet("session", key: key).status == 404)
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
