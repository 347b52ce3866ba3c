import CloudKitModel
import Cryptography
import Foundation
import JSONCoding
import Testing

@testable import DatabaseAPI

/// The page of a share's link, for visitors who are signed out and for users.
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
}
