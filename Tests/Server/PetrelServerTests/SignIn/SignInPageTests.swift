import CloudKitModel
import Cryptography
import Foundation
import Testing

@testable import DatabaseAPI

struct SignInPageTests {
  private static let password = "correct horse"

  private func withAccount(
    _ settings: ServiceSettings = ServiceSettings(), _ body: (Service) async throws -> Void
  ) async throws {
    try await withService(settings) { service in
      // A hash says what it costs to check: less than one that is made as servers make them.
      let hash = try PasswordHash.make(
        Self.password, cost: PasswordHash.Cost(passes: 1, memory: 8192))
      try await service.store.accounts.setPasswordHash(hash, ofUserNamed: "alice", at: .now)
      try await body(service)
    }
  }

  private func caller(_ service: Service, token: String) async throws -> Answer {
    try await service.client.send(
      "GET",
      service.target("private/users/caller", as: nil)
        + "ckWebAuthToken=\(Service.escaped(token))")
  }

  private func fields(
    _ form: Answer, name: String = "alice", password: String = password,
    _ more: [(String, String)] = []
  ) -> [(String, String)] {
    form.formFields + [("name", name), ("password", password)] + more
  }

  @Test("name and password give a token, to the page that asked and to no other")
  func signsIn() async throws {
    try await withAccount { service in
      let browser = SignInBrowser(service)
      let form = try await browser.get(try await service.signInURL())
      #expect(form.status == 200)
      #expect(form.text.contains(Service.container))
      #expect(form.text.contains("https://app.example.com"))
      let done = try await browser.post("/sign-in", fields(form))
      #expect(done.status == 200)
      #expect(done.attribute("data-origins") == "https://app.example.com")
      let token = try #require(done.attribute("data-token"))
      let answer = try await caller(service, token: token)
      #expect(answer.json["userRecordName"]?.string == service.alice.recordName)
    }
  }

  @Test("who cancels gets no token, and the page that asked is told so")
  func cancels() async throws {
    try await withAccount { service in
      let browser = SignInBrowser(service)
      let form = try await browser.get(try await service.signInURL())
      #expect(form.attribute("formaction")?.hasSuffix("/sign-in/cancel") == true)
      let told = try await browser.post("/sign-in/cancel", form.formFields)
      #expect(told.status == 200)
      #expect(told.attribute("data-failure") == "the sign-in was cancelled")
      #expect(told.attribute("data-origins") == "https://app.example.com")
      #expect(!told.text.contains("data-token"))
      // Nobody else can make the page say so.
      let stranger = SignInBrowser(service)
      #expect(try await stranger.post("/sign-in/cancel", form.formFields).status == 403)
      #expect(try await browser.get("/sign-in/cancel").status == 404)
    }
  }

  @Test("an app that is called back has no button to cancel")
  func cancelsNoCallback() async throws {
    try await withAccount { service in
      let apiToken = try await service.addAPIToken(
        callback: .redirect(url: "https://app.example.com/back"))
      let asked = try await service.send("private/users/caller", apiToken: apiToken)
      let browser = SignInBrowser(service)
      let form = try await browser.get(try #require(asked.json["redirectURL"]?.string))
      #expect(form.status == 200 && !form.text.contains("Cancel"))
      #expect(try await browser.post("/sign-in/cancel", form.formFields).status == 400)
    }
  }

  @Test("a token lasts half an hour, or two weeks for who stays signed in")
  func lifetimes() async throws {
    try await withAccount { service in
      for (more, lifetime) in [([], 1800.0), ([("stay", "yes")], 14 * 86_400.0)] {
        let browser = SignInBrowser(service)
        let form = try await browser.get(try await service.signInURL())
        let done = try await browser.post("/sign-in", fields(form, more))
        let token = try #require(done.attribute("data-token"))
        let stored = try #require(
          try await service.store.accounts.webAuthToken(withHash: Authenticator.hash(of: token)))
        #expect(stored.expires.seconds - stored.created.seconds == lifetime)
      }
    }
  }

  @Test("a wrong password, an unknown name and a user without a password look the same")
  func wrong() async throws {
    try await withAccount { service in
      let browser = SignInBrowser(service)
      let form = try await browser.get(try await service.signInURL())
      var pages: Set<String> = []
      for (name, password) in [
        ("alice", "wrong horse"), ("carol", Self.password), ("bob", Self.password),
        ("alice", "short"),
      ] {
        let page = try await browser.post(
          "/sign-in", fields(form, name: name, password: password))
        #expect(page.status == 403)
        #expect(page.text.contains("role=\"alert\""))
        #expect(page.attribute("value", after: "id=\"name\"") == name)
        #expect(!page.text.contains(password))
        pages.insert(
          page.text.replacingOccurrences(of: page.formFields[1].1, with: "PROOF")
            .replacingOccurrences(of: name, with: "NAME"))
      }
      #expect(pages.count == 1)
      let empty = try await browser.post("/sign-in", fields(form, name: "", password: ""))
      #expect(empty.status == 400)
      #expect(empty.text.contains("Enter your name"))
    }
  }

  @Test("what was typed comes back escaped")
  func escaped() async throws {
    try await withAccount { service in
      let browser = SignInBrowser(service)
      let form = try await browser.get(try await service.signInURL())
      let page = try await browser.post("/sign-in", fields(form, name: #""><script>1</script>"#))
      #expect(page.text.contains("&quot;&gt;&lt;script&gt;1&lt;/script&gt;"))
      #expect(!page.text.contains("<script>"))
    }
  }

  @Test("after five wrong passwords even the right one has to wait, and then works")
  func slowsDown() async throws {
    try await withAccount { service in
      service.clock.stop()
      let browser = SignInBrowser(service)
      let form = try await browser.get(try await service.signInURL())
      for _ in 1...5 {
        let page = try await browser.post("/sign-in", fields(form, password: "wrong horse"))
        #expect(page.status == 403)
      }
      let early = try await browser.post("/sign-in", fields(form))
      #expect(early.status == 429)
      #expect(early.headers["retry-after"] == "1")
      #expect(early.text.contains("Wait 1 seconds"))
      service.clock.advance(bySeconds: 1)
      let late = try await browser.post("/sign-in", fields(form))
      #expect(late.status == 200)
    }
  }

  @Test("addresses are told apart by the header that the configuration names")
  func addresses() async throws {
    var settings = ServiceSettings()
    settings.limits.clientAddressHeader = "X-Forwarded-For"
    try await withService(settings) { service in
      service.clock.stop()
      let browser = SignInBrowser(service)
      let form = try await browser.get(try await service.signInURL())
      func attempt(_ number: Int, from address: String) async throws -> Int {
        try await browser.post(
          "/sign-in", fields(form, name: "user \(number)"),
          headers: "X-Forwarded-For: 6.6.6.\(number), \(address)\r\n"
        ).status
      }
      for number in 1...20 { #expect(try await attempt(number, from: "1.1.1.1") == 403) }
      #expect(try await attempt(21, from: "1.1.1.1") == 429)
      #expect(try await attempt(22, from: "2.2.2.2") == 403)
    }
  }

  @Test("a form that the browser was not shown is refused")
  func forgery() async throws {
    try await withAccount { service in
      let browser = SignInBrowser(service)
      let url = try await service.signInURL()
      let form = try await browser.get(url)
      let stranger = SignInBrowser(service)
      _ = try await stranger.get(url)
      #expect(try await stranger.post("/sign-in", fields(form)).status == 403)
      let other = try await browser.get(
        try await service.signInURL(origin: "https://evil.example.com"))
      let mixed = [form.formFields[0], other.formFields[1]]
      let answer = try await browser.post(
        "/sign-in", mixed + [("name", "alice"), ("password", Self.password)])
      #expect(answer.status == 403)
      let foreign = try await browser.post(
        "/sign-in", fields(form), headers: "Origin: https://evil.example.com\r\n")
      #expect(foreign.status == 403)
      #expect(
        try await browser.post(
          "/sign-in", fields(form), headers: "Origin: \(service.server.url)\r\n"
        )
        .status == 200)
      browser.forgetCookies()
      let bare = try await browser.post("/sign-in", fields(form))
      #expect(bare.status == 403)
      #expect(bare.text.contains("cookie"))
    }
  }

  @Test("an address that was changed or is too old is refused, and so is an old form")
  func stale() async throws {
    try await withAccount { service in
      let browser = SignInBrowser(service)
      let url = try await service.signInURL()
      #expect(try await browser.get("/sign-in").status == 400)
      #expect(try await browser.get("/sign-in?state=x.y").status == 400)
      #expect(try await browser.get(url + "A").status == 400)
      #expect(try await browser.get("/sign-in/other").status == 404)
      let form = try await browser.get(url)
      service.clock.advance(bySeconds: SignIn.formLifetime)
      #expect(try await browser.post("/sign-in", fields(form)).status == 403)
      service.clock.advance(bySeconds: SignIn.urlLifetime - SignIn.formLifetime)
      #expect(try await browser.get(url).status == 400)
    }
  }

  @Test("nothing may be loaded from elsewhere, framed, cached or sent elsewhere")
  func headers() async throws {
    try await withAccount { service in
      let browser = SignInBrowser(service)
      let form = try await browser.get(try await service.signInURL())
      let policy = form.headers["content-security-policy"] ?? ""
      #expect(policy.contains("default-src 'none'"))
      #expect(policy.contains("frame-ancestors 'none'"))
      #expect(policy.hasSuffix("form-action 'self'"))
      #expect(!policy.contains("script-src"))
      #expect(!policy.contains("unsafe"))
      #expect(form.headers["cache-control"] == "no-store")
      #expect(form.headers["x-content-type-options"] == "nosniff")
      #expect(form.headers["set-cookie"]?.hasSuffix("; HttpOnly; SameSite=Lax") ?? false)
      let done = try await browser.post("/sign-in", fields(form))
      #expect(done.headers["content-security-policy"]?.contains("script-src 'sha256-") ?? false)
      #expect(done.headers["cache-control"] == "no-store")
    }
  }

  @Test("behind TLS the cookie is for TLS alone")
  func secureCookie() async throws {
    var settings = ServiceSettings()
    settings.publicURL = "https://cloud.example.com"
    try await withService(settings) { service in
      let url = try await service.signInURL()
      #expect(url.hasPrefix("https://cloud.example.com/sign-in?state="))
      let form = try await SignInBrowser(service).get(url)
      #expect(form.headers["set-cookie"]?.hasSuffix("; Secure") ?? false)
      #expect(form.attribute("action") == "https://cloud.example.com/sign-in")
    }
  }

  @Test("a server that takes no passwords shows no field for one and accepts none")
  func noPasswords() async throws {
    var settings = ServiceSettings()
    settings.signIn.acceptsPasswords = false
    try await withAccount(settings) { service in
      let browser = SignInBrowser(service)
      let form = try await browser.get(try await service.signInURL())
      #expect(!form.text.contains("type=\"password\""))
      #expect(try await browser.post("/sign-in", fields(form)).status == 403)
    }
  }
}
