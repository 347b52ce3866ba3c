import CloudKitModel
import Foundation
import HTTPService
import JSONCoding
import OutboundHTTP
import Settings
import Testing

@testable import AdminAPI
@testable import Configuration
@testable import DatabaseAPI

struct AdminAccessTests {
  @Test("A key that was added opens the API, and answers are kept nowhere")
  func key() async throws {
    try await withService { service in
      let key = try await service.addAdminKey("laptop")
      let answer = try await service.adminGet("session", key: key)
      #expect(answer.status == 200, "\(answer.json)")
      #expect(answer.json["key"]?["label"]?.string == "laptop")
      #expect(answer.json["proof"] == nil, "only a browser needs one")
      #expect(answer.headers["cache-control"] == "no-store")
      #expect(answer.headers["content-security-policy"]?.contains("default-src 'none'") ?? false)
      let stored = try await service.store.adminAccess.adminKeys()
      #expect(stored.map(\.hash) == [AdminKeys.hash(of: key)], "the text itself is not kept")
    }
  }

  @Test("Without a key, with a wrong one, or with one in another form there is no answer")
  func refusals() async throws {
    try await withService { service in
      let key = try await service.addAdminKey()
      #expect(
        try await service.adminGet("session", key: nil).failure == "421 AUTHENTICATION_REQUIRED")
      #expect(
        try await service.adminGet("session", key: String(key.reversed())).failure
          == "401 AUTHENTICATION_FAILED")
      #expect(
        try await service.adminGet("session", key: nil, headers: "Authorization: Basic \(key)\r\n")
          .failure == "401 AUTHENTICATION_FAILED")
      #expect(
        try await service.adminGet("session?key=\(key)", key: nil).failure
          == "421 AUTHENTICATION_REQUIRED")
    }
  }

  @Test("A revoked key is refused at once, and its sessions are over")
  func revocation() async throws {
    try await withService { service in
      let key = try await service.addAdminKey()
      let cookie = try await service.beginConsoleSession(key)
      let line = try await Registration.revoke(
        String(AdminKeys.hash(of: key).hexadecimal.prefix(16)), of: service.store.credentials,
        and: service.store.adminAccess, at: .now)
      #expect(line.hasPrefix("revoked admin key"))
      #expect(
        try await service.adminGet("session", key: key).failure == "401 AUTHENTICATION_FAILED")
      #expect(
        try await service.adminGet("session", key: nil, headers: cookie).failure
          == "421 AUTHENTICATION_REQUIRED")
      await #expect(throws: ConfigurationError.self) {
        try await Registration.revoke(
          key, of: service.store.credentials, and: service.store.adminAccess, at: .now)
      }
    }
  }

  @Test("After twenty wrong keys an address has to wait, and a right key passes all the same")
  func guessing() async throws {
    try await withService { service in
      let key = try await service.addAdminKey()
      for _ in 0..<AttemptLimiter.freeForAddress {
        #expect(try await service.adminGet("session", key: "00").status == 401)
      }
      let refused = try await service.adminGet("session", key: "00")
      #expect(refused.failure == "429 THROTTLED")
      #expect(refused.headers["retry-after"] == "1")
      #expect(try await service.adminGet("session", key: key).status == 200)
      // A browser that signs in is as a program that shows the key.
      let wrong = try await service.client.send(
        "POST", "/console/sign-in", headers: Self.form, body: Data("key=00".utf8))
      #expect(wrong.status == 429)
      let right = try await service.client.send(
        "POST", "/console/sign-in", headers: Self.form, body: Data("key=\(key)".utf8))
      #expect(right.status == 303 && right.headers["set-cookie"] != nil)
    }
  }

  private static let form = "Content-Type: application/x-www-form-urlencoded\r\n"

  @Test("A browser's session reads with its cookie, changes with its proof, and ends")
  func session() async throws {
    try await withService { service in
      let key = try await service.addAdminKey("browser")
      let cookie = try await service.beginConsoleSession(key)
      let answer = try await service.adminGet("session", key: nil, headers: cookie)
      #expect(answer.json["key"]?["label"]?.string == "browser")
      let proof = try #require(answer.json["proof"]?.string)
      for wrong in ["", "X-Petrel-CSRF: \r\n", "X-Petrel-CSRF: \(proof.dropLast())x\r\n"] {
        let refused = try await service.adminPost(
          "session/sign-out", key: nil, headers: cookie + wrong)
        #expect(refused.failure == "403 ACCESS_DENIED")
      }
      let out = try await service.adminPost(
        "session/sign-out", key: nil, headers: cookie + "X-Petrel-CSRF: \(proof)\r\n")
      #expect(out.status == 200, "\(out.json)")
      #expect(out.headers["set-cookie"]?.contains("Max-Age=0") ?? false)
      #expect(
        try await service.adminGet("session", key: nil, headers: cookie).failure
          == "421 AUTHENTICATION_REQUIRED")
    }
  }

  @Test("A session is over after its time")
  func expiry() async throws {
    try await withService { service in
      let cookie = try await service.beginConsoleSession(try await service.addAdminKey())
      service.clock.advance(bySeconds: AdminAuthenticator.sessionLifetime - 60)
      #expect(try await service.adminGet("session", key: nil, headers: cookie).status == 200)
      service.clock.advance(bySeconds: 120)
      #expect(try await service.adminGet("session", key: nil, headers: cookie).status == 421)
    }
  }

  @Test("The API is there by itself only where the server is reached at a loopback address")
  func addresses() {
    var configuration = ServerConfiguration(dataDirectory: "")
    let reached: [(String, String?, Bool)] = [
      ("127.0.0.1", nil, true), ("127.8.0.1", nil, true), ("::1", nil, true),
      ("localhost", nil, true), ("0.0.0.0", nil, false), ("::", nil, false),
      ("10.0.0.1", nil, false), ("127.0.0.1", "https://cloud.example.com", false),
      ("127.0.0.1", "http://localhost:9000", true), ("::1", "http://[::1]:8080", true),
    ]
    for (address, url, isServed) in reached {
      configuration.address = address
      configuration.publicURL = url
      #expect(configuration.servesAdmin == isServed, "\(address) \(url ?? "-")")
    }
    configuration.admin.isEnabled = false
    #expect(!configuration.servesAdmin)
    configuration.address = "0.0.0.0"
    configuration.admin.isEnabled = true
    #expect(configuration.servesAdmin)
  }

  @Test("Where it is off, nothing below /admin is there, with a key or without")
  func off() async throws {
    var settings = ServiceSettings()
    settings.admin.isEnabled = false
    try await withService(settings) { service in
      let answer = try await service.adminGet("session", key: try await service.addAdminKey())
      #expect(answer.failure == "404 NOT_FOUND")
      #expect(answer.reason.contains("admin"))
    }
  }

  @Test("Addresses outside of the configured networks are refused, also behind a proxy")
  func networks() async throws {
    var settings = ServiceSettings()
    settings.admin.networks = [try #require(IPNetwork("10.0.0.0/8"))]
    settings.limits.clientAddressHeader = "X-Forwarded-For"
    try await withService(settings) { service in
      let key = try await service.addAdminKey()
      for (address, status) in [
        ("10.1.2.3", 200), ("10.1.2.3, 192.0.2.1", 403), ("192.0.2.1, 10.1.2.3", 200),
        ("::ffff:10.0.0.1", 200), ("nonsense", 403),
      ] {
        let answer = try await service.adminGet(
          "session", key: key, headers: "X-Forwarded-For: \(address)\r\n")
        #expect(answer.status == status, "\(address): \(answer.json)")
      }
      #expect(try await service.adminGet("session", key: key).status == 403)
    }
  }

  @Test("A path, a method or an argument that is not known is told with those that are")
  func mistakes() async throws {
    try await withService { service in
      let key = try await service.addAdminKey()
      let path = try await service.adminGet("sessions", key: key)
      #expect(path.failure == "404 NOT_FOUND")
      #expect(path.reason.contains("session/sign-out"))
      let method = try await service.adminPost("session", key: key)
      #expect(method.failure == "405 BAD_REQUEST")
      #expect(method.headers["allow"] == "GET")
      let argument = try await service.adminGet("session?verbose=1", key: key)
      #expect(argument.failure == "400 BAD_REQUEST")
      #expect(argument.reason == "query: 'verbose' is not known here; known are none")
      let body = try await service.client.send(
        "POST", "/admin/v1/session/sign-out", headers: "Authorization: Bearer \(key)\r\n",
        body: Data("[1]".utf8))
      #expect(body.reason == "body: must be an object, not an array")
    }
  }
}

extension Service {
  /// Signs a browser in to the console; answers the header field that it sends from then on.
  func beginConsoleSession(_ key: String) async throws -> String {
    let authenticator = AdminAuthenticator(
      store: store.adminAccess, sharing: store.sharedLimits, addressHeader: nil, clock: clock.read)
    let cookie = try await authenticator.beginSession(
      with: key, from: HTTPRequest(method: "POST", target: "/console/sign-in"))
    return "Cookie: other=1; petrel-console=\(cookie)\r\n"
  }
}
