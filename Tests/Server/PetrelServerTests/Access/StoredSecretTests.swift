import CloudKitModel
import Cryptography
import Foundation
import JSONCoding
import Settings
import Synchronization
import Testing

@testable import Configuration
@testable import DatabaseAPI
@testable import Logging

/// Makes every kind of secret, and looks for its text where it must not be.
struct StoredSecretTests {
  private static let password = "correct horse battery staple"

  /// All that is in files below a folder, the write-ahead log too.
  private static func files(below folder: String) throws -> [(name: String, bytes: Data)] {
    try FileManager.default.subpathsOfDirectory(atPath: folder).compactMap { name in
      FileManager.default.contents(atPath: folder + "/" + name).map { (name, $0) }
    }
  }

  /// The texts in which a secret could stand: as it is, in base64 and hexadecimal digits of its bytes.
  private static func forms(_ secret: String) -> [String] {
    var forms = [secret, Service.escaped(secret)]
    for bytes in [Data(base64Encoded: secret), Base64URL.decode(secret).map { Data($0) }] {
      guard let bytes else { continue }
      forms += [
        bytes.map { String(format: "%02x", $0) }.joined(), bytes.base64EncodedString(),
        Base64URL.encode(bytes),
      ]
    }
    return forms
  }

  /// The bytes that a secret's text stands for.
  private static func bytes(_ secret: String) -> [Data] {
    var all = forms(secret).map { Data($0.utf8) }
    if let bytes = Data(base64Encoded: secret) { all.append(bytes) }
    if let bytes = Base64URL.decode(secret) { all.append(Data(bytes)) }
    if secret.count == 64, secret.allSatisfy(\.isHexDigit) {
      var bytes = Data()
      var rest = secret[...]
      while let byte = UInt8(rest.prefix(2), radix: 16) {
        bytes.append(byte)
        rest = rest.dropFirst(2)
      }
      all.append(bytes)
    }
    return all
  }

  @Test(
    "no token, key, password or cookie is in the data directory, the log, the figures or the configuration"
  )
  func nowhere() async throws {
    let log = Mutex("")
    var settings = ServiceSettings(pollTime: 0)
    settings.log = ServerLog(level: .debug) { level, line in
      log.withLock { $0 += "\(level) \(line)\n" }
    }
    settings.metrics.token = SecureRandom.bytes(count: 24).hexadecimal
    settings.admin.isEnabled = true
    try await withService(settings) { service in
      var secrets: [String: String] = ["metrics token": settings.metrics.token ?? ""]
      secrets["native token"] = service.alice.token
      try await Account.setPassword(
        Self.password, ofUserNamed: "alice", in: service.store.accounts, at: service.clock.read())
      secrets["password"] = Self.password
      let session = try await service.signIn(service.alice)
      secrets["session's token"] = session.token
      let apiToken = try await service.addAPIToken()
      secrets["API token"] = apiToken
      let adminKey = try await service.addAdminKey()
      secrets["admin key"] = adminKey
      let cookie = try await service.beginConsoleSession(adminKey)
      secrets["console's cookie"] = String(
        cookie.trimmingCharacters(in: .whitespacesAndNewlines).split(separator: "=").last ?? "")
      let proof = try await service.adminGet("session", key: nil, headers: cookie)
      secrets["console's proof"] = try #require(proof.json["proof"]?.string)
      let courier = try await service.post(
        "tokens/create", #"{"apnsEnvironment": "development"}"#, as: service.alice)
      let courierToken = try #require(courier.json["apnsToken"]?.string)
      secrets["courier's token"] = courierToken
      let asked = try await service.askForUpload(record: "a", field: "file")
      let upload = try #require(asked.uploadURLs.first)
      secrets["upload's secret"] = String(upload.split(separator: "/").last ?? "")
      let key = try await SigningClient(service, container: Service.container)
      secrets["program's key"] = try key.privateKey.pem

      // Each is used, rightly and wrongly, so that what is logged is.
      service.clock.advance(bySeconds: 61)
      let rotated = try await service.send(
        "public/users/caller", apiToken: apiToken, as: session)
      let next = try #require(rotated.headers["x-apple-cloudkit-web-auth-token"])
      secrets["session's next token"] = next
      #expect(next != session.token)
      _ = try await service.poll("/aps?tok=\(Service.escaped(courierToken))")
      _ = try await service.client.send("POST", upload, body: Data("bytes".utf8))
      _ = try await service.client.send(
        "POST", service.target("public/no/such", as: service.alice), body: Data("{".utf8))
      _ = try await service.send("public/records/modify", "{", apiToken: apiToken, as: session)
      _ = try await service.send(
        "public/users/caller", apiToken: apiToken, origin: "https://x.example.com")
      _ = try await service.client.send("GET", "/no/such?ckWebAuthToken=\(service.alice.token)")
      _ = try await service.adminGet("no/such", key: adminKey, headers: cookie)
      _ = try await service.adminGet("users", key: adminKey)
      let bearer = "Authorization: Bearer \(settings.metrics.token ?? "")\r\n"
      let figures = try await service.client.send(
        "GET", "/metrics", headers: bearer + "X-Forwarded-For: 192.0.2.1\r\n")
      #expect(figures.status == 200)
      let shown = ConfigurationListing(
        of: service.configuration, from: ConfigurationSources(directory: service.directory))
      // What an administrator is shown of it.
      var pages = ""
      for path in ["users", "keys", "devices", "overview", "pushes"] {
        let page = try await service.adminGet(path, key: adminKey)
        #expect(page.status == 200, "\(path)")
        pages += page.json.text
      }

      #expect(log.withLock { $0.contains("request answered") })
      #expect(secrets.count == 12)
      let places: [(name: String, bytes: Data)] =
        try Self.files(below: service.directory) + [
          ("the log", Data(log.withLock { $0 }.utf8)), ("the figures", figures.body),
          ("the configuration", Data(shown.text.utf8)), ("the admin API", Data(pages.utf8)),
        ]
      #expect(places.contains { $0.name.hasSuffix("-wal") })
      for (name, secret) in secrets {
        #expect(!secret.isEmpty)
        for bytes in Self.bytes(secret) {
          for place in places where place.bytes.range(of: bytes) != nil {
            Issue.record("the \(name) stands in \(place.name)")
          }
        }
      }
      // The search finds what is there.
      let name = Data(service.alice.recordName.utf8)
      #expect(places.contains { $0.name.contains("sqlite") && $0.bytes.range(of: name) != nil })
    }
  }

  @Test("the store's files, its log and its assets are for the server's user alone")
  func permissions() async throws {
    try await withService { service in
      _ = try await service.uploaded(Data("bytes".utf8), record: "a", field: "file")
      for name in try FileManager.default.subpathsOfDirectory(atPath: service.directory) {
        var information = stat()
        #expect(stat(service.directory + "/" + name, &information) == 0)
        #expect(
          information.st_mode & 0o077 == 0,
          "\(name): \(String(information.st_mode & 0o777, radix: 8))")
      }
    }
  }

  @Test("each kind has 128 bits at least, and no two are the same")
  func strength() async throws {
    try await withService { service in
      let alice = try #require(try await service.store.accounts.user(named: "alice"))
      var made: [String: [String]] = [:]
      for _ in 0..<20 {
        let adminKey = try await service.addAdminKey()
        let cookie = try await service.beginConsoleSession(adminKey)
        let courier = try await service.post(
          "tokens/create", #"{"apnsEnvironment": "development"}"#, as: service.alice)
        let upload = try await service.askForUpload(record: "a", field: "file").uploadURLs.first
        for (kind, text) in [
          ("admin key", adminKey), ("API token", try await service.addAPIToken()),
          (
            "native token",
            try await Account.makeToken(for: alice, in: service.store.accounts, at: .now)
          ), ("session", try await service.signIn(service.alice).token),
          ("cookie", cookie.trimmingCharacters(in: .whitespacesAndNewlines).suffix(43) + ""),
          ("courier", courier.json["apnsToken"]?.string ?? ""),
          ("upload", String(upload?.split(separator: "/").last ?? "")),
        ] { made[kind, default: []].append(text) }
      }
      for (kind, texts) in made {
        #expect(Set(texts).count == 20, "\(kind)")
        for text in texts {
          let isHexadecimal = text.count == 64 && text.allSatisfy(\.isHexDigit)
          let size =
            isHexadecimal
            ? 32 : (Data(base64Encoded: text)?.count ?? Base64URL.decode(text)?.count ?? 0)
          #expect(size >= 16, "\(kind): \(text)")
        }
        // No place in the texts is the same in all of them, as a counter's or a time's would be.
        for place in 0..<(kind == "courier" ? 43 : texts[0].count) {
          #expect(Set(texts.map { Array($0)[place] }).count > 1, "\(kind), place \(place)")
        }
      }
    }
  }
}
