import Foundation
import IssuerSimulation
import JSONCoding
import OpenIDConnect
import Testing

@testable import AdminAPI
@testable import DatabaseAPI

/// Tests of replayed requests that were valid once: at the same moment, after a restart, at another
/// server of the same store, after the clock was set.
struct ReplayTests {
  private static func change(_ name: String) -> String {
    #"{"operations": [\#(Service.operation("forceUpdate", name))]}"#
  }

  @Test("a signed change is made once, however many servers get it at the same moment")
  func signedChanges() async throws {
    try await withTwoServers { service, other in
      let client = try await ServerKeyClient(service)
      for _ in 0..<3 {
        let request = try client.request("public/records/modify", Self.change("n"))
        let answers = try await all(8, to: [service.client, other]) { server, _ in
          try await server.send(
            request.method, request.target, headers: request.headers,
            body: Data(request.body.utf8))
        }
        #expect(answers.map(\.status) == Array(repeating: 200, count: 8))
        #expect(Set(answers.map(Self.tag)).count == 1)
      }
      // Nor does the other server make it again when the first one has begun anew.
      let request = try client.request("public/records/modify", Self.change("n"))
      let first = try await client.send(request)
      #expect(first.status == 200)
      try await service.restart()
      for server in [service.client, other] {
        let again = try await server.send(
          request.method, request.target, headers: request.headers,
          body: Data(request.body.utf8))
        #expect(again.status == 200 && Self.tag(again) == Self.tag(first), "\(again.json)")
      }
    }
  }

  /// The change tag of the first record in an answer.
  private static func tag(_ answer: Answer) -> String? {
    answer.items.first?["recordChangeTag"]?.string
  }

  @Test("a signed change that keeps no answer is made once, and the others are to sign it anew")
  func signedSubscriptions() async throws {
    try await withTwoServers { service, other in
      let client = try await ServerKeyClient(service)
      let request = try client.request("public/subscriptions/modify", #"{"operations": []}"#)
      let answers = try await all(8, to: [service.client, other]) { server, _ in
        try await server.send(
          request.method, request.target, headers: request.headers, body: Data(request.body.utf8))
      }
      let taken = answers.filter { $0.json.errorCode != "TRY_AGAIN_LATER" }
      #expect(taken.count == 1, "\(answers.map(\.json))")
    }
  }

  @Test("a signed change is not made again when the clock jumps forward and back")
  func jumpingClock() async throws {
    try await withService { service in
      let client = try await ServerKeyClient(service)
      let change = try client.request("public/records/modify", Self.change("n"))
      let read = try client.request(
        "public/records/query", #"{"query": {"recordType": "Note"}}"#)
      #expect(try await client.send(change).status == 200)
      #expect(try await client.send(read).status == 200)
      for jump in [3_600, 86_400, 2_592_000] as [Double] {
        service.clock.advance(bySeconds: jump)
        #expect(try await client.post("public/records/modify", Self.change("m")).status == 200)
        // Signatures whose time is up are forgotten.
        try await service.store.maintenance.trim(at: service.clock.read())
        #expect(try await client.send(change).status == 401)
        service.clock.advance(bySeconds: -jump)
        #expect(try await client.send(change).status == 401, "\(jump)")
        #expect(try await client.send(read).status == 200, "\(jump)")
      }
      // One that is signed now is good.
      service.clock.advance(bySeconds: 1)
      #expect(try await client.post("public/records/modify", Self.change("n")).status == 200)
    }
  }

  @Test("a token that was revoked is known as such at each server, also when the clock is set back")
  func revokedToken() async throws {
    try await onBothEngines(sharesClock: true) { service, clients in
      func statuses(_ user: TestUser) async throws -> Set<Int> {
        var statuses: Set<Int> = []
        for client in clients {
          statuses.insert(
            try await client.send("GET", service.target("public/users/caller", as: user)).status)
        }
        return statuses
      }
      service.clock.advance(bySeconds: 3_600)
      #expect(try await statuses(service.bob) == [200])
      _ = try await service.store.accounts.endSessions(
        of: service.bob.recordName, everywhere: true, at: service.clock.read())
      // A server that has its store alone relies on what it knew for half a minute.
      if clients.count > 1 {
        service.clock.advance(bySeconds: WebAuthTokens.sharedTrust)
        #expect(try await statuses(service.bob) == [401])
      }
      service.clock.advance(bySeconds: -3_600)
      #expect(try await statuses(service.bob) == [401])
      #expect(try await statuses(service.alice) == [200])
    }
  }

  @Test(
    "a session's token that gave way at one server has the grace time at both, and no restart helps"
  )
  func rotatedTokens() async throws {
    try await withTwoServers(sharesClock: true) { service, other in
      func caller(_ token: String, at client: ServiceClient) async throws -> (Int, next: String?) {
        let user = TestUser(name: "", recordName: "", token: token)
        let answer = try await client.send(
          "GET", service.target("public/users/caller", as: user))
        return (answer.status, answer.headers["x-apple-cloudkit-web-auth-token"])
      }
      func statuses(_ token: String) async throws -> [Int] {
        [try await caller(token, at: service.client).0, try await caller(token, at: other).0]
      }
      let old = try await service.signIn(service.alice, staysSignedIn: true).token
      #expect(try await statuses(old) == [200, 200])
      service.clock.advance(bySeconds: 61)
      let next = try #require(try await caller(old, at: service.client).next)
      let nextOfOther = try #require(try await caller(old, at: other).next)
      #expect(next != old && nextOfOther != old)
      // The client takes up one of the two, at the server that did not make it.
      #expect(try await caller(next, at: other).0 == 200)
      service.clock.advance(bySeconds: SessionRotation.grace - 1)
      #expect(try await statuses(old) == [200, 200])
      service.clock.advance(bySeconds: 2)
      #expect(try await statuses(old) == [401, 401])
      #expect(try await statuses(next) == [200, 200])
      let leftOver = try await statuses(nextOfOther)
      #expect(leftOver[0] == leftOver[1])
      try await service.restart()
      #expect(try await statuses(old) == [401, 401])
      #expect(try await statuses(next) == [200, 200])
      _ = try await Account.signOut(
        userNamed: service.alice.name, everywhere: false, in: service.store.accounts,
        at: service.clock.read())
      service.clock.advance(bySeconds: WebAuthTokens.sharedTrust)
      for token in [old, next, nextOfOther] {
        #expect(try await statuses(token) == [401, 401])
      }
    }
  }

  /// The clients of all servers, when the service's own server was started anew.
  private func restarted(
    _ service: Service, _ clients: [ServiceClient]
  ) async throws -> [ServiceClient] {
    try await service.restart()
    return [service.client] + clients.dropFirst()
  }

  @Test(
    "a sign-in form is good at each server and after a restart, for its browser, page and hour alone"
  )
  func signInForms() async throws {
    var settings = ServiceSettings()
    settings.publicURL = "https://cloud.example.com"
    try await onBothEngines(settings, sharesClock: true) { service, clients in
      try await Account.setPassword(
        "correct horse", ofUserNamed: service.alice.name, in: service.store.accounts,
        at: service.clock.read())
      let browser = SignInBrowser(service)
      let form = try await browser.get(try await service.signInURL())
      let elsewhere = try await browser.get(
        try await service.signInURL(origin: "https://other.example.com"))
      let stranger = SignInBrowser(service)
      _ = try await stranger.get(try await service.signInURL())
      let login = [("name", "alice"), ("password", "correct horse")]
      let mixed = [form.formFields[0], elsewhere.formFields[1]]
      func check(_ clients: [ServiceClient], isOver: Bool = false) async throws {
        for client in clients {
          let good = try await browser.post("/sign-in", form.formFields + login, at: client)
          #expect(good.status == (isOver ? 403 : 200), "\(good.text)")
          #expect((good.attribute("data-token") == nil) == isOver)
          for (someone, fields) in [(stranger, form.formFields), (browser, mixed)] {
            let bad = try await someone.post("/sign-in", fields + login, at: client)
            #expect(bad.status == 403 && bad.attribute("data-token") == nil, "\(bad.text)")
          }
        }
      }
      try await check(clients)
      let later = try await restarted(service, clients)
      try await check(later)
      service.clock.advance(bySeconds: SignIn.formLifetime)
      try await check(later, isOver: true)
    }
  }

  @Test("an issuer's answer is good once, at whichever server, and for the browser that it came to")
  func issuerAnswers() async throws {
    let issuer = try SimulatedIssuer(
      SimulatedIssuer.Behaviour(keyID: "key", key: SigningKey.makeRSA()))
    var settings = ServiceSettings()
    settings.publicURL = "https://cloud.example.com"
    settings.signIn.issuers["test"] = IssuerSettings(
      issuer: issuer.url, clientID: "client", credential: .secret("secret"), label: "Test")
    try await onBothEngines(settings, sharesClock: true) { service, clients in
      let browser = SignInBrowser(service)
      let form = try await browser.get(try await service.signInURL())
      func answer() async throws -> String {
        let passage = try await browser.post("/sign-in/with/test", form.formFields)
        let target = try #require(passage.attribute("href"), "\(passage.text)")
        let fields = issuer.signIn(at: target.replacingOccurrences(of: "&amp;", with: "&"))
        return "/sign-in/from/test?"
          + fields.map { "\($0)=\(Service.escaped($1))" }.joined(separator: "&")
      }
      let stranger = SignInBrowser(service)
      _ = try await stranger.get(try await service.signInURL())
      let used = try await answer()
      for client in clients {
        #expect(try await stranger.get(used, at: client).status == 403)
      }
      // Left at the first server, back at the last.
      let first = try await browser.get(used, at: clients[clients.count - 1])
      #expect(first.attribute("data-token") != nil, "\(first.text)")
      let fresh = try await answer()
      let later = try await restarted(service, clients)
      for client in later {
        #expect(try await browser.get(used, at: client).status == 403)
        #expect(try await stranger.get(fresh, at: client).status == 403)
      }
      #expect(try await browser.get(fresh, at: later[0]).attribute("data-token") != nil)
    }
    await issuer.stop()
  }

  @Test(
    "a console's session is over at each server when it ends at one, and has a proof of its own")
  func consoleSessions() async throws {
    try await onBothEngines { service, clients in
      let key = try await service.addAdminKey()
      let cookies = [
        try await service.beginConsoleSession(key), try await service.beginConsoleSession(key),
      ]
      func session(_ cookie: String, at client: ServiceClient) async throws -> Answer {
        try await client.send("GET", "/admin/v1/session", headers: cookie)
      }
      var proofs: [String] = []
      for cookie in cookies {
        var seen: Set<String> = []
        for client in clients {
          seen.insert(try #require(try await session(cookie, at: client).json["proof"]?.string))
        }
        #expect(seen.count == 1)
        proofs += seen.map { "X-Petrel-CSRF: \($0)\r\n" }
      }
      func signOut(_ cookie: String, _ proof: String, at client: ServiceClient) async throws -> Int
      {
        try await client.send(
          "POST", "/admin/v1/session/sign-out", headers: cookie + proof, body: Data("{}".utf8)
        ).status
      }
      for client in clients {
        #expect(try await signOut(cookies[0], proofs[1], at: client) == 403)
      }
      #expect(try await signOut(cookies[0], proofs[0], at: clients[clients.count - 1]) == 200)
      func checkFirstIsOver(_ clients: [ServiceClient]) async throws {
        for client in clients {
          #expect(try await session(cookies[0], at: client).status == 421)
          #expect(try await signOut(cookies[0], proofs[0], at: client) == 421)
          #expect(try await session(cookies[1], at: client).status == 200)
        }
      }
      try await checkFirstIsOver(clients)
      let later = try await restarted(service, clients)
      try await checkFirstIsOver(later)
      _ = try await Registration.revoke(
        String(AdminKeys.hash(of: key).hexadecimal.prefix(16)), of: service.store.credentials,
        and: service.store.adminAccess, at: .now)
      for client in later {
        #expect(try await session(cookies[1], at: client).status == 421)
        let shown = try await client.send(
          "GET", "/admin/v1/session", headers: "Authorization: Bearer \(key)\r\n")
        #expect(shown.status == 401)
      }
    }
  }

  @Test("a key that was revoked is known as such when the clock is set back")
  func revokedKey() async throws {
    try await withService { service in
      let client = try await ServerKeyClient(service)
      service.clock.advance(bySeconds: 3_600)
      #expect(try await client.post("public/records/modify", Self.change("n")).status == 200)
      _ = try await service.store.credentials.revokeServerKey(
        client.key.keyID, at: service.clock.read())
      service.clock.advance(bySeconds: -3_590)
      let answer = try await client.post("public/records/modify", Self.change("n"))
      #expect(answer.status == 401 && answer.reason.contains("revoked"), "\(answer.json)")
    }
  }

  @Test(
    "a named request is carried out once, and gets the same answer again at each server")
  func namedRequests() async throws {
    try await onBothEngines { service, clients in
      let body = Data(
        #"{"operations": [\#(Service.operation("create", "n"))], "requestID": "once"}"#.utf8)
      let target = service.target("public/records/modify", as: service.alice)
      let answers = try await all(8, to: clients) { server, _ in
        try await server.send("POST", target, body: body)
      }
      #expect(answers.allSatisfy { $0.outcomes == ["ok"] }, "\(answers.map(\.json))")
      let later = try await restarted(service, clients)
      for client in later {
        #expect(try await client.send("POST", target, body: body).outcomes == ["ok"])
      }
      // Without the name there is one already.
      let again = try await service.modify(Service.operation("create", "n"))
      #expect(again.outcomes == ["EXISTS"])
    }
  }
}
