import CloudKitModel
import Cryptography
import Foundation
import JSONCoding
import Synchronization
import Testing

@testable import DatabaseAPI
@testable import Logging

struct SharePageTests {
  // MARK: Signed out

  @Test("signed out, real, foreign, ended and invented links have the same page and header fields")
  func strangers() async throws {
    try await SharePageWorld.run { world in
      let real = try await world.share(world.inviting())
      var answers: [String: Answer] = [:]
      func open(_ name: String, _ path: String) async throws {
        answers[name] = try await world.service.client.send("GET", path)
      }
      try await open("real", world.path(real))
      try await open("of a public share", world.path(real))
      try await world.endShare()
      try await open("ended", world.path(real))
      let altered = (real.first == "A" ? "B" : "A") + real.dropFirst()
      try await open("altered", world.path(altered))
      for rubbish in ["", "x", "%00", "a/b", "%E2%80%AE", "..%2f..", "<script>"] {
        try await open("rubbish \(rubbish)", world.path(rubbish))
      }
      try await open("long", world.path(String(repeating: "A", count: 3000)))
      try await open("with another query", world.path(real) + "?answer=accept&proof=x")
      try await open("without a name", "/share")
      let first = try #require(answers["real"])
      #expect(first.status == 200 && first.text.contains("href=\"?sign-in=yes\""))
      #expect(!first.text.contains("Our list") && first.headers["set-cookie"] == nil)
      func headers(_ answer: Answer) -> [String: String] {
        answer.headers.filter { $0.key != "date" }
      }
      for (name, answer) in answers {
        #expect(answer.status == first.status, "\(name)")
        #expect(answer.body == first.body, "\(name)")
        #expect(headers(answer) == headers(first), "\(name)")
      }
    }
  }

  @Test("signed out, the way to the sign-in is the same for every link, and names no container")
  func signInOfStrangers() async throws {
    try await SharePageWorld.run { world in
      let real = try await world.share(world.inviting())
      for guid in [real, "unknown", "%0D%0ASet-Cookie:%20a=b"] {
        let browser = SignInBrowser(world.service)
        let begun = try await browser.get(world.path(guid) + "?sign-in=yes")
        #expect(begun.status == 303 && begun.body.isEmpty && begun.headers["set-cookie"] == nil)
        let form = try await browser.get(try #require(begun.headers["location"]))
        #expect(form.status == 200 && form.text.contains("to see what was shared with you"))
        #expect(!form.text.contains("iCloud.") && !form.text.contains("Cancel"))
        let state = try #require(form.formFields.first?.1.split(separator: ".").first)
        let sealed = try #require(Base64URL.decode(state))
        #expect(!String(decoding: sealed, as: UTF8.self).contains("iCloud."))
        // Nobody but a visitor with a proof gets a session, and nobody gets a token to read.
        let done = try await browser.post(
          "/sign-in",
          form.formFields + [("name", "bob"), ("password", SharePageWorld.password)])
        #expect(done.status == 303 && done.headers["set-cookie"]?.contains("a=b") == false)
        let location = try #require(done.headers["location"])
        #expect(
          location
            == "\(world.service.server.url)/share/\(guid)".replacing(":%20a=", with: "%3A%20a%3D"))
      }
    }
  }

  @Test("a form without a session changes nothing")
  func postsOfStrangers() async throws {
    try await SharePageWorld.run { world in
      let guid = try await world.share(#""publicPermission": "READ_WRITE""#)
      let browser = SignInBrowser(world.service)
      for path in [guid, "unknown"].map(world.path) {
        let answer = try await browser.post(path, [("answer", "accept"), ("proof", "x")])
        #expect(answer.status == 403 && answer.text.contains("Sign in to see it"))
      }
      #expect(try await world.participants() == ["OWNER ACCEPTED"])
    }
  }

  // MARK: Signed in

  @Test("a user who is invited sees title, owner and permission, accepts, and reads the record")
  func accepts() async throws {
    try await SharePageWorld.run("notes://open?share={guid}&link={url}") { world in
      let guid = try await world.share(world.inviting("READ_ONLY"))
      let browser = SignInBrowser(world.service)
      let page = try await world.signIn("bob", at: guid, browser)
      #expect(page.status == 200)
      for text in [
        "Our list", "Another user", "You may read it.", ">Accept<", ">Not now<", "<bdi>bob</bdi>",
      ] {
        #expect(page.text.contains(text), "\(text): \(page.text)")
      }
      #expect(!page.text.contains("notes:"))
      #expect(try await world.bobsLookup() == "ZONE_NOT_FOUND")
      let later = try await world.press("later", on: page, of: guid, browser)
      #expect(later.status == 200 && later.text.contains("Nothing has changed"))
      #expect(try await world.participants() == ["OWNER ACCEPTED", "USER INVITED"])

      let accepted = try await world.press("accept", on: page, of: guid, browser)
      #expect(accepted.status == 200, "\(accepted.text)")
      let url = "\(world.service.server.url)/share/\(guid)"
      let opened =
        "notes://open?share=\(guid)&amp;link=\(url.replacing(":", with: "%3A").replacing("/", with: "%2F"))"
      #expect(accepted.attribute("content", after: "refresh") == "0;url=\(opened)")
      #expect(accepted.attribute("href") == opened)
      #expect(try await world.participants() == ["OWNER ACCEPTED", "USER ACCEPTED"])
      #expect(try await world.bobsLookup() == "ok")

      // A reload repeats the form, and a later visit offers the app without opening it.
      let again = try await world.press("accept", on: page, of: guid, browser)
      #expect(again.status == 200 && again.text.contains("You have accepted"))
      let back = try await browser.get(world.path(guid))
      #expect(back.text.contains("You have accepted") && back.attribute("href") == opened)
      #expect(!back.text.contains("refresh") && !back.text.contains(">Accept<"))
    }
  }

  @Test("without an app in the configuration the page says that the share is accepted")
  func acceptsWithoutApp() async throws {
    try await SharePageWorld.run { world in
      let guid = try await world.share(#""publicPermission": "READ_WRITE""#)
      let browser = SignInBrowser(world.service)
      let page = try await world.signIn("bob", at: guid, browser)
      #expect(page.text.contains("You may read and change it."))
      let accepted = try await world.press("accept", on: page, of: guid, browser)
      #expect(accepted.text.contains("You have accepted this share"))
      #expect(
        accepted.text.contains("You find it in the app.") && accepted.attribute("href") == nil)
      #expect(try await world.participants() == ["OWNER ACCEPTED", "PUBLIC_USER ACCEPTED"])
    }
  }

  @Test("the owner sees that the share is the owner's")
  func owner() async throws {
    try await SharePageWorld.run { world in
      let guid = try await world.share(world.inviting())
      let browser = SignInBrowser(world.service)
      let page = try await world.signIn("alice", at: guid, browser)
      #expect(page.text.contains("You share this.") && !page.text.contains(">Accept<"))
      let accepted = try await world.press("accept", on: page, of: guid, browser)
      #expect(accepted.status == 200)
      #expect(try await world.participants() == ["OWNER ACCEPTED", "USER INVITED"])
    }
  }

  @Test("every link that is not for a user gets one refusal, whose request for access is thanked")
  func refusal() async throws {
    try await SharePageWorld.run { world in
      // It waits for an address that no account has.
      let waiting = #"{"lookupInfo": {"emailAddress": "nobody@example.com"}}"#
      let guid = try await world.share(
        """
        "denyAccessRequests": false, "participants": [{"type": "USER", "permission": "READ_ONLY",
          "acceptanceStatus": "INVITED", "userIdentity": \(waiting)}]
        """)
      let browser = try await world.browser(of: "bob", at: guid)
      var pages: Set<String> = []
      var thanks: Set<String> = []
      var headers: Set<[String: String]> = []
      func open(_ guid: String) async throws {
        let page = try await browser.get(world.path(guid))
        #expect(page.status == 404 && page.text.contains("You cannot open this link"))
        pages.insert(page.withoutProofs)
        headers.insert(page.headers.filter { !["date", "content-length"].contains($0.key) })
        let refused = try await world.press("accept", on: page, of: guid, browser)
        #expect(refused.status == 404)
        pages.insert(refused.withoutProofs)
        let asked = try await world.press("ask", on: page, of: guid, browser)
        #expect(asked.status == 200 && asked.text.contains("Thank you"))
        thanks.insert(asked.text)
      }
      for guid in [guid, "unknown", ""] { try await open(guid) }
      let found = try await world.service.lookup("s", in: "private", zone: "Notes")
      #expect(
        found[0]["requesters"]?.array?.map { $0["requesterInformation"]?["userRecordName"]?.string }
          == [world.service.bob.recordName])
      _ = try await world.share(
        #""blocked": [{"blockedInformation": {"userRecordName": "\#(world.service.bob.recordName)"}}]"#
      )
      try await open(guid)
      try await world.endShare()
      try await open(guid)
      #expect(pages.count == 1 && thanks.count == 1 && headers.count == 1)
    }
  }

  @Test("a container that the server does not serve has no shares on the page")
  func unservedContainer() async throws {
    try await SharePageWorld.run { world in
      let guid = try await world.share(#""publicPermission": "READ_ONLY""#)
      let browser = try await world.browser(of: "bob", at: guid)
      let page = try await browser.get(world.path(guid))
      #expect(page.status == 200)
      try await world.service.restart(configure: { $0.containers = ["iCloud.other": .init()] })
      #expect(try await browser.get(world.path(guid)).status == 404)
      #expect(try await world.press("accept", on: page, of: guid, browser).status == 404)
      try await world.service.restart()
      #expect(try await world.participants() == ["OWNER ACCEPTED"])
    }
  }

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

  @Test("another account can be used")
  func signsOut() async throws {
    try await SharePageWorld.run { world in
      let guid = try await world.share(world.inviting())
      let browser = SignInBrowser(world.service)
      let page = try await world.signIn("alice", at: guid, browser)
      let out = try await world.press("sign-out", on: page, of: guid, browser)
      #expect(out.status == 200 && browser.cookies["petrel-share"] == nil)
      #expect(try await browser.get(world.path(guid)).text.contains("Sign in to see it"))
      #expect(try await world.signIn("bob", at: guid, browser).text.contains(">Accept<"))
    }
  }

  // MARK: Hostile content

  @Test("titles and names of others are text")
  func hostileTexts() async throws {
    try await SharePageWorld.run { world in
      let title = #"</h1><script>alert(1)</script><img src=x onerror="alert(2)">&lt;'\#u{202E}"#
      let guid = try await world.share(world.inviting(), title: title)
      let browser = SignInBrowser(world.service)
      for page in [
        try await world.signIn("bob", at: guid, browser),
        try await world.press("accept", on: browser.get(world.path(guid)), of: guid, browser),
        try await browser.get(world.path(guid)),
        try await world.signIn("alice", at: guid, SignInBrowser(world.service)),
      ] {
        #expect(page.status == 200)
        #expect(!page.text.contains("<script") && !page.text.contains("<img"))
        #expect(
          page.text.contains(
            "<bdi>&lt;/h1&gt;&lt;script&gt;alert(1)&lt;/script&gt;&lt;img src=x onerror=&quot;"
              + "alert(2)&quot;&gt;&amp;lt;&#39;\u{202E}</bdi>"))
      }
      let long = try await world.share(
        world.inviting(), title: String(repeating: "x", count: 10_000))
      let page = try await browser.get(world.path(long))
      #expect(page.body.count < 10_000)
    }
  }

  @Test("a thumbnail is shown if its bytes are those of a PNG or JPEG file of up to 256 KB")
  func pictures() async throws {
    let png = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 0x0D]) + "IHDR".utf8
    let jpeg = Data([0xFF, 0xD8, 0xFF, 0xE0])
    let limit = SharePicture.sizeLimit
    func padded(_ data: Data, to count: Int) -> Data { data + Data(count: count - data.count) }
    let cases: [(Data, String?)] = [
      (png, "image/png"), (jpeg, "image/jpeg"), (padded(png, to: limit), "image/png"),
      (padded(png, to: limit + 1), nil), (png.dropLast(), nil), (Data("GIF89a".utf8), nil),
      (Data("<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>".utf8), nil),
      (Data("<html><script>alert(1)</script>".utf8), nil), (Data(), nil),
    ]
    try await SharePageWorld.run { world in
      var browser: SignInBrowser?
      for (data, type) in cases {
        let guid = try await world.share(
          world.inviting(),
          fields: """
            , "cloudkit.thumbnailImageData": {"type": "BYTES",
              "value": "\(data.base64EncodedString())"}
            """)
        if browser == nil { browser = try await world.browser(of: "bob", at: guid) }
        let page = try #require(try await browser?.get(world.path(guid)))
        #expect(page.status == 200)
        let policy = try #require(page.headers["content-security-policy"])
        guard let type else {
          #expect(!page.text.contains("<img") && !policy.contains("img-src"))
          continue
        }
        #expect(
          page.attribute("src") == "data:\(type);base64,\(data.base64EncodedString())")
        #expect(policy.contains("; img-src data:"))
      }
    }
  }

  @Test("every page has the header fields that keep it from scripts, frames, caches and indexes")
  func headers() async throws {
    try await SharePageWorld.run { world in
      let guid = try await world.share(world.inviting())
      let browser = SignInBrowser(world.service)
      var answers = [
        try await browser.get(world.path(guid)),
        try await browser.get(world.path(guid) + "?sign-in=yes"),
        try await world.signIn("bob", at: guid, browser), try await browser.get("/share/unknown"),
        try await browser.post(world.path(guid), [("answer", "accept")]),
        try await world.service.client.send("DELETE", world.path(guid)),
        try await world.service.client.send("HEAD", world.path(guid)),
      ]
      let page = try await browser.get(world.path(guid))
      answers.append(try await world.press("accept", on: page, of: guid, browser))
      #expect(answers.map(\.status) == [200, 303, 200, 404, 403, 405, 200, 200])
      for answer in answers {
        #expect(answer.headers["cache-control"] == "no-store")
        #expect(answer.headers["referrer-policy"] == "no-referrer")
        #expect(answer.headers["x-robots-tag"] == "noindex")
        #expect(answer.headers["x-frame-options"] == "DENY")
        #expect(answer.headers["x-content-type-options"] == "nosniff")
        #expect(answer.headers["access-control-allow-origin"] == nil)
        guard answer.status != 303 else { continue }
        let policy = try #require(answer.headers["content-security-policy"])
        #expect(policy.hasPrefix("default-src 'none'; style-src 'sha256-"))
        #expect(policy.contains("frame-ancestors 'none'") && policy.contains("base-uri 'none'"))
        #expect(policy.hasSuffix("form-action 'self'") && !policy.contains("script-src"))
      }
    }
  }

  // MARK: Guesses

  @Test("an address opens some links at once, and then has to wait, whatever the links are")
  func rate() async throws {
    try await SharePageWorld.run { world in
      world.service.clock.stop()
      let guid = try await world.share(world.inviting())
      var statuses: [Int: Int] = [:]
      var last: Answer?
      for number in 0..<102 {
        let answer = try await world.service.client.send(
          "GET", world.path(number.isMultiple(of: 2) ? guid : "unknown\(number)"))
        statuses[answer.status, default: 0] += 1
        last = answer
      }
      #expect(statuses == [200: 100, 429: 2])
      #expect(last?.headers["retry-after"] == "1")
      #expect(last?.headers["cache-control"] == "no-store")
      world.service.clock.advance(bySeconds: 0.2)
      #expect(try await world.service.client.send("GET", world.path(guid)).status == 200)
    }
  }

  @Test("a user's rate counts on the page too")
  func rateOfUser() async throws {
    var settings = ServiceSettings()
    settings.limits.requestRates[.user] = .init(perSecond: 1, burst: 2)
    try await SharePageWorld.run(nil, settings) { world in
      world.service.clock.stop()
      let browser = SignInBrowser(world.service)
      var statuses = [try await world.signIn("bob", at: "unknown", browser).status]
      for _ in 0..<2 { statuses.append(try await browser.get("/share/unknown").status) }
      #expect(statuses == [404, 404, 429])
      world.service.clock.advance(bySeconds: 60)
    }
  }

  @Test("a refusal takes a whole number of steps, however long the search took")
  func pace() {
    let step = RefusalPace.step
    #expect(RefusalPace.pause(after: .zero) == step)
    #expect(RefusalPace.pause(after: step / 4) == step - step / 4)
    #expect(RefusalPace.pause(after: step) == step)
    #expect(RefusalPace.pause(after: step * 5 / 2) == step / 2)
  }

  @Test("the log has hashes in place of links")
  func log() async throws {
    let lines = Mutex<[String]>([])
    var settings = ServiceSettings()
    settings.log = ServerLog(level: .debug) { _, line in lines.withLock { $0.append(line) } }
    try await SharePageWorld.run(nil, settings) { world in
      let guid = try await world.share(#""publicPermission": "READ_WRITE""#)
      let browser = SignInBrowser(world.service)
      let page = try await world.signIn("bob", at: guid, browser)
      _ = try await world.press("accept", on: page, of: guid, browser)
      try await world.endShare()
      #expect(try await browser.get(world.path(guid)).status == 404)
      _ = try await world.service.client.send("OPTIONS", world.path(guid))
      let text = lines.withLock { $0.joined(separator: "\n") }
      #expect(!text.contains(guid))
      #expect(text.contains("share=\(ShareURL.hash(of: guid))"), "\(text)")
    }
  }
}
