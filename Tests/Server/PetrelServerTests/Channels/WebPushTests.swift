import CloudKitModel
import Cryptography
import Foundation
import JSONCoding
import PushChannels
import Testing

@testable import PetrelServer

struct WebPushTests {
  private static func settings(browsers: Int = 3) -> ServiceSettings {
    var settings = ServiceSettings()
    var webPush = WebPushSettings(subject: "mailto:ops@example.com")
    webPush.browsersPerUser = browsers
    settings.webPush = webPush
    return settings
  }

  private static let point = (try? ECDHKeyPair().publicPoint) ?? []

  /// A registration as a browser's `toJSON` gives it.
  private static func registration(
    endpoint: String = "https://push.example.com/send/1", p256dh: String? = nil,
    auth: String? = nil, expires: String = "null", more: String = ""
  ) -> String {
    let p256dh = p256dh ?? Base64URL.encode(point)
    let auth = auth ?? Base64URL.encode([UInt8](repeating: 7, count: 16))
    return #"{"subscription": {"endpoint": "\#(endpoint)", "expirationTime": \#(expires), "#
      + #""keys": {"p256dh": "\#(p256dh)", "auth": "\#(auth)"}}\#(more)}"#
  }

  @Test("the key is a point on P-256, asked for by anybody, and stays the same over a restart")
  func key() async throws {
    try await withService(Self.settings()) { service in
      let answer = try await service.get("webPush/key", as: nil)
      #expect(answer.status == 200)
      let key = try #require(answer.json["applicationServerKey"]?.string)
      _ = try ES256PublicKey(uncompressedPoint: try #require(Base64URL.decode(key)))
      try await service.restart()
      let again = try await service.post("webPush/key", "{}", as: service.alice)
      #expect(again.json["applicationServerKey"]?.string == key)
    }
  }

  @Test("the key may come from a file")
  func keyFile() async throws {
    let key = try ES256PrivateKey()
    let file = NSTemporaryDirectory() + UUID().uuidString + ".pem"
    try Data(key.pem.utf8).write(to: URL(fileURLWithPath: file))
    defer { try? FileManager.default.removeItem(atPath: file) }
    var settings = ServiceSettings()
    settings.webPush = .init(subject: "mailto:ops@example.com", keyFile: file)
    try await withService(settings) { service in
      let answer = try await service.get("webPush/key", as: nil)
      #expect(
        answer.json["applicationServerKey"]?.string
          == Base64URL.encode(try key.publicKey.uncompressedPoint))
    }
  }

  @Test("a browser is registered as a device of its user, with its endpoint and keys")
  func registers() async throws {
    try await withService(Self.settings()) { service in
      let end = service.clock.read().advanced(bySeconds: 1000).milliseconds
      let answer = try await service.post(
        "webPush/register", Self.registration(expires: "\(end)", more: #", "clientId": "tab""#),
        as: service.alice)
      #expect(answer.status == 200, "\(answer.json)")
      #expect(answer.json["endpoint"] == "https://push.example.com/send/1")
      let devices = try await service.store.devices.deviceTokens(of: service.alice.recordName)
      #expect(devices.count == 1)
      let device = try #require(devices.first)
      #expect(device.kind == .webPush)
      #expect(device.deviceID == "tab")
      #expect(device.expires?.milliseconds == end)
      #expect(device.endpoint?.url == "https://push.example.com/send/1")
      #expect(device.endpoint?.secrets == Self.point + [UInt8](repeating: 7, count: 16))
      // Not the endpoint, which whoever knows it may post to.
      #expect(!device.token.contains("push.example.com"))
    }
  }

  @Test("a browser that registers again is the same device, with its new keys")
  func registersAgain() async throws {
    try await withService(Self.settings(browsers: 1)) { service in
      for auth in [1, 2] as [UInt8] {
        let answer = try await service.post(
          "webPush/register",
          Self.registration(auth: Base64URL.encode([UInt8](repeating: auth, count: 16))),
          as: service.alice)
        #expect(answer.status == 200)
      }
      let devices = try await service.store.devices.deviceTokens(of: service.alice.recordName)
      #expect(devices.count == 1)
      #expect(devices.first?.endpoint?.secrets.last == 2)
    }
  }

  @Test("a browser that another user signs in at is his from then on")
  func changesHands() async throws {
    try await withService(Self.settings()) { service in
      for user in [service.alice, service.bob] {
        _ = try await service.post("webPush/register", Self.registration(), as: user)
      }
      #expect(try await service.store.devices.deviceTokens(of: service.alice.recordName).isEmpty)
      #expect(try await service.store.devices.deviceTokens(of: service.bob.recordName).count == 1)
    }
  }

  @Test("unregistering forgets the browser, and only one's own")
  func unregisters() async throws {
    try await withService(Self.settings()) { service in
      _ = try await service.post("webPush/register", Self.registration(), as: service.alice)
      let body = #"{"endpoint": "https://push.example.com/send/1"}"#
      #expect(try await service.post("webPush/unregister", body, as: service.bob).status == 200)
      #expect(try await service.store.devices.deviceTokens(of: service.alice.recordName).count == 1)
      for _ in 0..<2 {
        let answer = try await service.post("webPush/unregister", body, as: service.alice)
        #expect(answer.status == 200)
        #expect(try await service.store.devices.deviceTokens(of: service.alice.recordName).isEmpty)
      }
    }
  }

  @Test("a user has so many browsers and no more; one that has ended does not count")
  func limit() async throws {
    try await withService(Self.settings()) { service in
      let end = service.clock.read().advanced(bySeconds: 100).milliseconds
      for number in 1...3 {
        let answer = try await service.post(
          "webPush/register",
          Self.registration(
            endpoint: "https://push.example.com/\(number)",
            expires: number == 1 ? "\(end)" : "null"), as: service.alice)
        #expect(answer.status == 200)
      }
      let fourth = Self.registration(endpoint: "https://push.example.com/4")
      let refusal = try await service.post("webPush/register", fourth, as: service.alice)
      #expect(refusal.status == 400)
      #expect(refusal.reason.contains("the user has 3 browsers already"))
      #expect(refusal.json["limit"] == 3)
      #expect(try await service.post("webPush/register", fourth, as: service.bob).status == 200)
      service.clock.advance(bySeconds: 101)
      #expect(try await service.post("webPush/register", fourth, as: service.alice).status == 200)
    }
  }

  @Test(
    "a registration that cannot be used is refused with its field and rule",
    arguments: [
      (registration(endpoint: "http://push.example.com/1"), "subscription.endpoint: must begin"),
      (
        registration(endpoint: "https://127.0.0.1/1"), "subscription.endpoint: contains the address"
      ),
      (
        registration(endpoint: "https://[fd00::1]/1"), "subscription.endpoint: contains the address"
      ),
      (
        registration(endpoint: "nonsense"),
        "subscription.endpoint: is not an absolute URL, such as https://example.com"
      ),
      (
        registration(endpoint: "https://a.example/" + String(repeating: "x", count: 2048)),
        "subscription.endpoint: has 2066 bytes"
      ),
      (registration(p256dh: "AAAA"), "subscription.keys.p256dh: an uncompressed P-256 point has"),
      (registration(p256dh: "?"), "subscription.keys.p256dh: is not base64url"),
      (
        registration(p256dh: Base64URL.encode([4] + [UInt8](repeating: 1, count: 64))),
        "subscription.keys.p256dh: the coordinates are not a point on P-256"
      ),
      (registration(auth: "AAAA"), "subscription.keys.auth: must have 16 bytes, not 3"),
      (registration(expires: "1000"), "subscription.expirationTime: has passed"),
      (registration(expires: "\"soon\""), "subscription.expirationTime: must be"),
      (#"{"subscription": {"endpoint": "https://a.example/"}}"#, "'keys' is missing"),
      (#"{"subscription": {}}"#, "'endpoint' is missing"),
      ("{}", "'subscription' is missing"),
      (#"{"subscription": 5}"#, "subscription: must be an object"),
    ])
  func badRegistrations(_ body: String, reason: String) async throws {
    try await withService(Self.settings()) { service in
      let answer = try await service.post("webPush/register", body, as: service.alice)
      #expect(answer.status == 400)
      #expect(answer.reason.contains(reason), "\(answer.reason)")
      #expect(try await service.store.devices.deviceTokens(of: service.alice.recordName).isEmpty)
    }
  }

  @Test("nobody registers anonymously, and nobody where it is not set up")
  func notAllowed() async throws {
    try await withService(Self.settings()) { service in
      let answer = try await service.post("webPush/register", Self.registration(), as: nil)
      #expect([401, 421].contains(answer.status))
    }
    try await withService { service in
      for operation in ["webPush/key", "webPush/register", "webPush/unregister"] {
        let body =
          operation == "webPush/unregister"
          ? #"{"endpoint": "https://push.example.com/1"}"# : Self.registration()
        let answer = try await service.post(operation, body, as: service.alice)
        #expect(answer.status == 400)
        #expect(answer.reason.contains("Web Push is not set up here"))
      }
    }
  }

  @Test("ending all of a user's sessions ends the pushes to his browsers")
  func endsWithSessions() async throws {
    try await withService(Self.settings()) { service in
      let bob = service.bob.recordName
      _ = try await service.post("webPush/register", Self.registration(), as: service.bob)
      _ = try await service.store.accounts.endSessions(of: bob, everywhere: false, at: .now)
      #expect(try await service.store.devices.deviceTokens(of: bob).count == 1)
      _ = try await service.store.accounts.endSessions(of: bob, everywhere: true, at: .now)
      #expect(try await service.store.devices.deviceTokens(of: bob).isEmpty)
    }
  }
}
