import Cryptography
import Foundation
import JSONCoding
import Synchronization
import Testing

@testable import DatabaseAPI
@testable import Logging

struct AdminAccountsTests {
  private func caller(_ service: Service, _ user: TestUser) async throws -> Int {
    try await service.get("public/users/caller", as: user).status
  }

  @Test("a user is made with a token and a password that are good at once")
  func add() async throws {
    try await withService { service in
      let key = try await service.addAdminKey()
      let answer = try await service.adminPost(
        "users/add",
        [
          "name": "eva", "password": "correct horse", "emailAddress": "Eva@Example.com",
          "phoneNumber": "+49 30 123", "givenName": "Eva", "familyName": "Berg",
        ], key: key)
      #expect(answer.status == 200, "\(answer.json)")
      #expect(answer.json["emailAddress"] == "eva@example.com")
      #expect(answer.json["fullName"] == "Eva Berg" && answer.json["password"] == nil)
      let eva = TestUser(
        name: "eva", recordName: answer.json["userRecordName"]?.string ?? "",
        token: answer.json["token"]?.string ?? "")
      #expect(try await caller(service, eva) == 200)
      let hash = try await service.store.accounts.passwordHash(ofUserNamed: "eva")
      #expect(PasswordHash.isMatch("correct horse", try #require(hash)))
    }
  }

  @Test("a token lives as long as was asked for, two weeks unless told")
  func lifetimes() async throws {
    try await withService { service in
      let key = try await service.addAdminKey()
      func token(_ members: [String: JSONValue]) async throws -> TestUser {
        let answer = try await service.adminPost(
          "users/add-token",
          .object(members.merging(["user": .string(service.alice.recordName)]) { $1 }), key: key)
        try #require(answer.status == 200, "\(answer.json)")
        #expect(answer.json["name"] == "alice")
        var user = service.alice
        user.token = try #require(answer.json["token"]?.string)
        return user
      }
      let short = try await token(["lifetime": 60])
      let usual = try await token([:])
      #expect(try await caller(service, short) == 200)
      service.clock.advance(bySeconds: 61)
      #expect(try await caller(service, short) == 401)
      service.clock.advance(bySeconds: 13 * 86_400)
      #expect(try await caller(service, usual) == 200)
    }
  }

  @Test("a new password, and signing out, end what the server has in memory at once")
  func sessionsEnd() async throws {
    try await withService { service in
      let key = try await service.addAdminKey()
      let other = try await service.signIn(service.bob)
      #expect(try await caller(service, other) == 200)
      let ends: [(path: String, body: [String: JSONValue], nativeEnds: Bool)] = [
        ("users/password", ["password": "correct horse"], false), ("users/sign-out", [:], false),
        ("users/sign-out", ["everywhere": true], true),
      ]
      for end in ends {
        let session = try await service.signIn(service.alice)
        #expect(try await caller(service, session) == 200)
        #expect(try await caller(service, service.alice) == 200)
        let answer = try await service.adminPost(
          end.path, .object(end.body.merging(["user": "alice"]) { $1 }), key: key)
        #expect(answer.status == 200, "\(answer.json)")
        #expect(try await caller(service, session) == 401, "\(end.path) \(end.body)")
        #expect(try await caller(service, service.alice) == (end.nativeEnds ? 401 : 200))
        #expect(try await caller(service, other) == 200)
      }
      // The server is asked with alice's token when the test is over.
      try await Account.addToken(
        service.alice.token,
        for: try await Account.user(named: "alice", in: service.store.accounts),
        in: service.store.accounts,
        lifetime: 600, at: service.clock.read())
    }
  }

  @Test("requests that are under way meanwhile do not keep a session alive")
  func sessionsEndAmongRequests() async throws {
    try await withService { service in
      let key = try await service.addAdminKey()
      for _ in 0..<10 {
        let session = try await service.signIn(service.alice)
        #expect(try await caller(service, session) == 200)
        try await withThrowingTaskGroup(of: Void.self) { group in
          for _ in 0..<8 {
            group.addTask {
              // Until it is refused.
              while try await caller(service, session) == 200 {}
            }
          }
          let ended = try await service.adminPost(
            "users/sign-out", ["user": "alice"], key: key)
          #expect(ended.json["sessions"] == 1)
          try await group.waitForAll()
        }
        #expect(try await caller(service, session) == 401)
      }
    }
  }

  @Test(
    "what is wrong is told by its name, and nobody is made",
    arguments: [
      (["name": "_eva"], "'name' must not begin with '_'"),
      (["name": "eva "], "'name' must not begin or end with a space"),
      (["name": "e\u{7}va"], "'name' contains a control character"),
      (
        ["name": .string(String(repeating: "é", count: 128))],
        "'name' has 256 bytes; the limit is 255"
      ),
      (["password": "short"], "'password' is not accepted: a password has 8 to 1024 bytes, not 5"),
      (["password": 12_345_678], "'password' must be a string, not"),
      (["emailAddress": "eva"], "'emailAddress' is not accepted: 'eva' is not an e-mail address"),
      (["phoneNumber": "none"], "'phoneNumber' is not accepted: "),
      (["givenName": .string(String(repeating: "x", count: 256))], "'givenName' has 256 bytes"),
      (["lifetime": 0], "'lifetime' must be a whole number from 1"),
      (["colour": "red"], "'colour' is not known here"),
    ] as [([String: JSONValue], String)])
  func mistakes(_ members: [String: JSONValue], _ reason: String) async throws {
    try await withService { service in
      let key = try await service.addAdminKey()
      let answer = try await service.adminPost(
        "users/add", .object(["name": "eva"].merging(members) { $1 }), key: key)
      #expect(answer.failure == "400 BAD_REQUEST")
      #expect(answer.reason.contains(reason), "\(answer.reason)")
      #expect(try await service.store.accounts.users().map(\.name) == ["alice", "bob"])
    }
  }

  @Test("a name or an address that another has is refused, and a user that is not there is told")
  func conflicts() async throws {
    try await withService { service in
      let key = try await service.addAdminKey()
      let eva: [String: JSONValue] = ["name": "eva", "emailAddress": "eva@example.com"]
      #expect(try await service.adminPost("users/add", .object(eva), key: key).status == 200)
      let again = try await service.adminPost("users/add", .object(eva), key: key)
      #expect(again.failure == "409 EXISTS" && again.reason.contains("a user named 'eva' already"))
      let other = try await service.adminPost(
        "users/add", .object(eva.merging(["name": "eve"]) { $1 }), key: key)
      #expect(other.failure == "409 EXISTS" && other.reason.contains("has eva@example.com"))
      for path in ["users/password", "users/add-token", "users/sign-out"] {
        var body: [String: JSONValue] = ["user": "zoe"]
        if path == "users/password" { body["password"] = "correct horse" }
        let answer = try await service.adminPost(path, .object(body), key: key)
        #expect(answer.failure == "404 NOT_FOUND", "\(path)")
        #expect(answer.reason.contains("no user named 'zoe'"), "\(answer.reason)")
      }
    }
  }

  @Test("passwords and tokens stand in no line of the log")
  func silence() async throws {
    let lines = Mutex<[String]>([])
    var settings = ServiceSettings()
    settings.log = ServerLog(
      level: .debug, entries: { entry in lines.withLock { $0.append(entry.text) } })
    try await withService(settings) { service in
      let key = try await service.addAdminKey()
      let secret = "battery staple"
      var secrets = [secret]
      for (path, body) in [
        ("users/add", ["name": "eva", "password": .string(secret)]),
        ("users/add", ["name": "eva", "password": .string(secret)]),
        ("users/password", ["user": "eva", "password": .string(secret)]),
        ("users/password", ["user": "zoe", "password": .string(secret)]),
        ("users/add-token", ["user": "eva"]),
      ] as [(String, [String: JSONValue])] {
        let answer = try await service.adminPost(path, .object(body), key: key)
        if let token = answer.json["token"]?.string { secrets.append(token) }
      }
      let broken = try await service.client.send(
        "POST", "/admin/v1/users/add", headers: "Authorization: Bearer \(key)\r\n",
        body: Data(#"{"name": "eva", "password": "battery staple}"#.utf8))
      #expect(broken.failure == "400 BAD_REQUEST")
      let text = lines.withLock { $0.joined(separator: "\n") }
      #expect(text.contains("admin: users/password by the key"), "\(text)")
      #expect(text.contains("path=/admin/v1/users/add"), "\(text)")
      #expect(secrets.count == 3)
      for secret in secrets { #expect(!text.contains(secret)) }
    }
  }
}
