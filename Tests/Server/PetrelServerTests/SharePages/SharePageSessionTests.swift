import Foundation
import Testing

@testable import DatabaseAPI

/// The session of a visitor of the page, and the proofs that its forms need.
struct SharePageSessionTests {
  // MARK: The proof

  @Test("no share is accepted without the proof of this user, this link and this hour")
  func proofs() async throws {
    try await SharePageWorld.run { world in
      let guid = try await world.share(#""publicPermission": "READ_WRITE""#)
      let browser = SignInBrowser(world.service)
      let page = try await world.signIn("bob", at: guid, browser)
      let other = try await world.signIn("alice", at: guid, SignInBrowser(world.service))
      let elsewhere = try await browser.get(world.path("unknown"))
      // Signed in anew, the same user has another session.
      let older = try await world.signIn("bob", at: guid, SignInBrowser(world.service))
      func refused(_ name: String, _ proof: String?, headers: String = "") async throws {
        let answer = try await browser.post(
          world.path(guid), (proof.map { [("proof", $0)] } ?? []) + [("answer", "accept")],
          headers: headers)
        #expect(answer.status == 403, "\(name): \(answer.text)")
      }
      let proof = page.shareProof
      try await refused("none", nil)
      try await refused("empty", "")
      try await refused("altered", String(proof.dropLast()) + (proof.last == "A" ? "B" : "A"))
      try await refused("another user's", other.shareProof)
      try await refused("another link's", elsewhere.shareProof)
      try await refused("another session's", older.shareProof)
      try await refused("from a page of another origin", proof, headers: "Origin: https://evil\r\n")
      let wrong = try await world.press("steal", on: page, of: guid, browser)
      #expect(wrong.status == 400)
      // The sign-in's proof is for the sign-in.
      let begun = try await browser.get(
        try #require(
          try await SignInBrowser(world.service).get(world.path(guid) + "?sign-in=1").headers[
            "location"]))
      try await refused("the sign-in's", begun.formFields[1].1)
      world.service.clock.advance(bySeconds: 3601)
      // The session is over by then, unless the user stays signed in.
      #expect(try await world.press("accept", on: page, of: guid, browser).status == 403)
      #expect(try await world.participants() == ["OWNER ACCEPTED"])
    }
  }

  @Test("a proof expires before the session of a user who stays signed in")
  func expiredProof() async throws {
    try await SharePageWorld.run { world in
      let guid = try await world.share(#""publicPermission": "READ_WRITE""#)
      let browser = SignInBrowser(world.service)
      let begun = try await browser.get(world.path(guid) + "?sign-in=yes")
      let form = try await browser.get(try #require(begun.headers["location"]))
      let done = try await browser.post(
        "/sign-in",
        form.formFields + [
          ("name", "bob"), ("password", SharePageWorld.password), ("stay", "yes"),
        ])
      #expect(done.headers["set-cookie"]?.contains("Max-Age=1209600") == true)
      let page = try await browser.get(world.path(guid))
      world.service.clock.advance(bySeconds: SignIn.formLifetime)
      let late = try await world.press("accept", on: page, of: guid, browser)
      #expect(late.status == 403 && late.text.contains("too old"))
      // The token was replaced meanwhile, and the new page works.
      let again = try await browser.get(world.path(guid))
      #expect(try await world.press("accept", on: again, of: guid, browser).status == 200)
      #expect(try await world.participants() == ["OWNER ACCEPTED", "PUBLIC_USER ACCEPTED"])
    }
  }

  // MARK: The session

  @Test("the cookie is for the pages of shares alone, and no other token stands in for it")
  func cookie() async throws {
    try await SharePageWorld.run { world in
      let guid = try await world.share(world.inviting())
      let browser = SignInBrowser(world.service)
      let begun = try await browser.get(world.path(guid) + "?sign-in=yes")
      let form = try await browser.get(try #require(begun.headers["location"]))
      let done = try await browser.post(
        "/sign-in", form.formFields + [("name", "bob"), ("password", SharePageWorld.password)])
      let cookie = try #require(done.headers["set-cookie"])
      #expect(cookie.hasSuffix("; Path=/share; Max-Age=1800; HttpOnly; SameSite=Lax"))
      #expect(!done.text.contains("ckWebAuthToken"))
      let token = try #require(browser.cookies["petrel-share"])
      let asked = try await world.service.client.send(
        "GET",
        world.service.target("private/users/caller", as: nil)
          + "ckWebAuthToken=\(Service.escaped(token))")
      #expect(asked.status == 401, "\(asked.json)")
      func open(_ token: String) async throws -> Answer {
        try await world.service.client.send(
          "GET", world.path(guid), headers: "Cookie: petrel-share=\(token)\r\n")
      }
      #expect(try await open(token).text.contains("Our list"))
      #expect(try await open(world.service.bob.token).text.contains("Sign in to see it"))
      #expect(try await open("x").text.contains("Sign in to see it"))
      // `petrel users sign-out` ends the session, as it ends those of web apps.
      _ = try await world.service.store.accounts.endSessions(
        of: world.service.bob.recordName, everywhere: false, at: .now)
      world.service.clock.advance(bySeconds: WebAuthTokens.trust)
      #expect(try await open(token).text.contains("Sign in to see it"))
    }
  }

  @Test("behind TLS and a folder, the cookie is for both")
  func cookieBehindTLS() async throws {
    var settings = ServiceSettings()
    settings.publicURL = "https://cloud.example.com/petrel"
    try await SharePageWorld.run(nil, settings) { world in
      let guid = try await world.share(world.inviting())
      let browser = SignInBrowser(world.service)
      let begun = try await browser.get(world.path(guid) + "?sign-in=yes")
      let url = try #require(begun.headers["location"])
      #expect(url.hasPrefix("https://cloud.example.com/petrel/sign-in?state="))
      let form = try await browser.get(url.replacing("/petrel", with: ""))
      let done = try await browser.post(
        "/sign-in", form.formFields + [("name", "bob"), ("password", SharePageWorld.password)])
      #expect(done.headers["location"] == "https://cloud.example.com/petrel/share/\(guid)")
      #expect(done.headers["set-cookie"]?.contains("; Path=/petrel/share; ") == true)
      #expect(done.headers["set-cookie"]?.hasSuffix("; Secure") == true)
    }
  }

  @Test("another account can be used, and the session that is left ends, and no other session")
  func signsOut() async throws {
    try await SharePageWorld.run { world in
      let guid = try await world.share(world.inviting())
      let browser = SignInBrowser(world.service)
      let page = try await world.signIn("alice", at: guid, browser)
      let other = SignInBrowser(world.service)
      try await world.signIn("alice", at: guid, other)
      let cookie = try #require(browser.cookies["petrel-share"])
      let out = try await world.press("sign-out", on: page, of: guid, browser)
      #expect(out.status == 200 && browser.cookies["petrel-share"] == nil)
      let copy = try await world.service.client.send(
        "GET", world.path(guid), headers: "Cookie: petrel-share=\(cookie)\r\n")
      #expect(copy.text.contains("Sign in to see it"), "\(copy.text)")
      #expect(try await !other.get(world.path(guid)).text.contains("Sign in to see it"))
      #expect(try await browser.get(world.path(guid)).text.contains("Sign in to see it"))
      #expect(try await world.signIn("bob", at: guid, browser).text.contains(">Accept<"))
    }
  }
}
