import CloudKitModel
import Foundation
import IssuerSimulation
import JSONCoding
import OpenIDConnect
import Testing

@testable import DatabaseAPI

struct IssuerSignInTests {
  private static let key = SigningKey.makeRSA()

  private func withIssuer(
    mode: IssuerSettings.ResponseMode = .query,
    _ body: (Service, SimulatedIssuer) async throws -> Void
  ) async throws {
    let issuer = try SimulatedIssuer(
      SimulatedIssuer.Behaviour(keyID: "key", key: Self.key))
    var settings = ServiceSettings()
    settings.signIn.issuers["test"] = IssuerSettings(
      issuer: issuer.url, clientID: "client", credential: .secret("secret"),
      label: "Test & Co", responseMode: mode)
    do {
      try await withService(settings) { try await body($0, issuer) }
    } catch {
      await issuer.stop()
      throw error
    }
    await issuer.stop()
  }

  /// Goes to the issuer and answers the URL to come back to.
  private func leave(
    _ browser: SignInBrowser, _ issuer: SimulatedIssuer, more: [(String, String)] = []
  ) async throws -> String {
    let form = try await browser.get(try await browser.service.signInURL())
    #expect(form.text.contains("Test &amp; Co"))
    let action = try #require(form.attribute("formaction"))
    let passage = try await browser.post(action, form.formFields + more)
    #expect(passage.status == 200, "\(passage.text)")
    let target = try #require(passage.attribute("href")).replacingOccurrences(
      of: "&amp;", with: "&")
    #expect(target.hasPrefix(issuer.url + "/authorize?"))
    return target
  }

  /// Leaves and comes back.
  private func signIn(
    _ browser: SignInBrowser, _ issuer: SimulatedIssuer, more: [(String, String)] = []
  ) async throws -> Answer {
    let answer = issuer.signIn(at: try await leave(browser, issuer, more: more))
    return try await browser.get("/sign-in/from/test?" + query(answer))
  }

  private func query(_ fields: [String: String]) -> String {
    fields.map { "\($0)=\(Service.escaped($1))" }.joined(separator: "&")
  }

  private func user(_ service: Service, _ page: Answer) async throws -> String {
    let token = try #require(page.attribute("data-token"), "\(page.status) \(page.text)")
    let stored = try #require(
      try await service.store.accounts.webAuthToken(withHash: Authenticator.hash(of: token)))
    return stored.userRecordName
  }

  @Test("the first sign-in makes an account, later ones find it, another subject gets another")
  func accounts() async throws {
    try await withIssuer { service, issuer in
      issuer.change {
        $0.claims = [
          "email": "Anna@Example.com", "email_verified": true, "given_name": "Anna",
          "family_name": "Berg",
        ]
      }
      let first = try await user(service, try await signIn(SignInBrowser(service), issuer))
      let again = try await user(service, try await signIn(SignInBrowser(service), issuer))
      #expect(first == again)
      let account = try #require(try await service.store.accounts.user(withRecordName: first))
      #expect(account.name == "test:248289761001")
      #expect(account.profile.emailAddress == "anna@example.com")
      #expect(account.profile.nameComponents?.givenName == "Anna")
      issuer.change { $0.subject = "other" }
      let other = try await user(service, try await signIn(SignInBrowser(service), issuer))
      #expect(other != first)
      #expect(
        try await service.store.accounts.user(withRecordName: other)?.profile.emailAddress == nil)
    }
  }

  @Test("staying signed in is remembered on the way")
  func stays() async throws {
    try await withIssuer { service, issuer in
      for (more, lifetime) in [([], 1800.0), ([("stay", "yes")], 14 * 86_400.0)] {
        let page = try await signIn(SignInBrowser(service), issuer, more: more)
        let token = try #require(page.attribute("data-token"))
        let stored = try #require(
          try await service.store.accounts.webAuthToken(withHash: Authenticator.hash(of: token)))
        #expect(stored.expires.seconds - stored.created.seconds == lifetime)
      }
    }
  }

  @Test(
    "an answer in a form is led on, so that the browser sends its cookie; Apple's names come along")
  func formPost() async throws {
    try await withIssuer(mode: .formPost) { service, issuer in
      issuer.change {
        $0.user = #"{"name": {"firstName": "Anna \"A\"", "lastName": "Berg"}, "email": "x@y.z"}"#
      }
      let browser = SignInBrowser(service)
      let target = try await leave(browser, issuer)
      #expect(target.contains("response_mode=form_post"))
      let answer = issuer.signIn(at: target)
      let stranger = SignInBrowser(service)
      let passage = try await stranger.post(
        "/sign-in/from/test", answer.map { ($0, $1) } + [("other", "1")],
        headers: "Origin: \(issuer.url)\r\n")
      #expect(passage.status == 200)
      let url = try #require(passage.attribute("href")).replacingOccurrences(
        of: "&amp;", with: "&")
      #expect(url.hasPrefix(service.server.url + "/sign-in/from/test?"))
      #expect(!url.contains("other"))
      let recordName = try await user(service, try await browser.get(url))
      let account = try #require(try await service.store.accounts.user(withRecordName: recordName))
      #expect(account.profile.nameComponents?.givenName == "Anna \"A\"")
      #expect(account.profile.nameComponents?.familyName == "Berg")
      #expect(account.profile.emailAddress == nil)
      let long = try await stranger.post(
        "/sign-in/from/test", [("code", String(repeating: "c", count: 5000))])
      #expect(long.status == 400)
    }
  }

  @Test("another browser, a changed state, an old one and another issuer's name are refused")
  func forgery() async throws {
    try await withIssuer { service, issuer in
      let browser = SignInBrowser(service)
      let answer = issuer.signIn(at: try await leave(browser, issuer))
      let back = "/sign-in/from/test?" + query(answer)
      #expect(try await SignInBrowser(service).get(back).status == 403)
      let stranger = SignInBrowser(service)
      _ = try await stranger.get(try await service.signInURL())
      #expect(try await stranger.get(back).status == 403)
      var changed = answer
      changed["state"]?.append("A")
      #expect(try await browser.get("/sign-in/from/test?" + query(changed)).status == 403)
      #expect(try await browser.get("/sign-in/from/test?code=x").status == 403)
      #expect(try await browser.get("/sign-in/from/other?" + query(answer)).status == 404)
      let mixed = try await browser.get(back + "&iss=https%3A%2F%2Fevil.example.com")
      #expect(mixed.status == 502)
      #expect(try await browser.get(back + "&iss=\(Service.escaped(issuer.url))").status == 200)
      // A code is good once.
      #expect(try await browser.get(back).status == 403)
      service.clock.advance(bySeconds: 600)
      #expect(try await browser.get(back).text.contains("too long ago"))
    }
  }

  @Test("the button needs the form's proof, as the password does")
  func proof() async throws {
    try await withIssuer { service, issuer in
      let browser = SignInBrowser(service)
      let form = try await browser.get(try await service.signInURL())
      let answer = try await browser.post("/sign-in/with/test", [form.formFields[0]])
      #expect(answer.status == 403)
      #expect(try await browser.post("/sign-in/with/other", form.formFields).status == 404)
      #expect(issuer.log.requests["/authorize"] == nil)
    }
  }

  @Test("who says no at the issuer, and who brings a bad token, sees the form again")
  func refused() async throws {
    try await withIssuer { service, issuer in
      issuer.change { $0.error = "access_denied" }
      let denied = try await signIn(SignInBrowser(service), issuer)
      #expect(denied.status == 403)
      #expect(denied.text.contains("You were not signed in"))
      #expect(denied.text.contains("name=\"password\""))
      issuer.change {
        $0.error = nil
        $0.claims["aud"] = "other"
      }
      let users = try await service.store.accounts.users().count
      let invalid = try await signIn(SignInBrowser(service), issuer)
      #expect(invalid.status == 502)
      #expect(invalid.attribute("data-token") == nil)
      #expect(try await service.store.accounts.users().count == users)
    }
  }
}
