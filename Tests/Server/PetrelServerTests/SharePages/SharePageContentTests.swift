import Foundation
import Testing

@testable import DatabaseAPI

/// Titles, names and pictures that others chose, and the header fields of the page.
struct SharePageContentTests {
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
}
