import Foundation
import HTTPService
import JSONCoding
import OutboundHTTP
import PushChannels
import Synchronization
import Testing
import Waiting

@testable import DatabaseAPI

/// Tests of texts from other people in header fields of answers, and of requests to other servers.
/// `HTTPServiceTests` and `OutboundHTTPTests` test what the two ends refuse; these tests show what
/// gets so far.
struct HeaderInjectionTests {
  /// Texts that would begin another header field, cut one off or end the header, or that are no
  /// ASCII.
  private static let texts = [
    "a\r\nX-Evil: 1", "a\nX-Evil: 1", "a\rX-Evil: 1", "a\r\n\r\n<p>evil", "a\tb", "a\u{7F}b",
    "\r\n",
    "é", "a\u{85}X-Evil: 1", "a\u{2028}X-Evil: 1", "a\u{560A}X-Evil: 1", "%0d%0aX-Evil: 1",
  ]

  private static func json(_ text: String) -> String { JSONValue.string(text).text }

  /// Lines that are a field of their own in the head of whatever answers.
  private static func check(_ answer: Answer, _ what: String) {
    #expect(answer.headers["x-evil"] == nil, "\(what)")
    #expect(!answer.headers.keys.contains { $0.contains("evil") }, "\(what): \(answer.headers)")
    for (name, value) in answer.headers {
      #expect(value.utf8.allSatisfy { (0x20...0x7E).contains($0) }, "\(what): \(name): \(value)")
    }
  }

  // MARK: Answers

  @Test("an origin and header names of a page are echoed where they are such, and never otherwise")
  func crossOrigin() async throws {
    // Each stands in one header field, which a client can send.
    let origins = [
      "https://a.example\tX-Evil: 1", "https://é.example", "https://a.example\u{85}X-Evil: 1",
      "https://a.example\u{560A}X-Evil: 1", "\u{FEFF}https://a.example", "https://a.example\u{7F}",
    ]
    try await withService { service in
      let target = service.target("public/users/caller", as: service.alice)
      for origin in origins {
        let answer = try await service.client.send("GET", target, headers: "Origin: \(origin)\r\n")
        Self.check(answer, origin)
        #expect(answer.headers["access-control-allow-origin"] == nil, "\(origin)")
        let preflight = try await service.client.send(
          "OPTIONS", target,
          headers: "Origin: https://a.example\r\nAccess-Control-Request-Method: POST\r\n"
            + "Access-Control-Request-Headers: \(origin)\r\n")
        Self.check(preflight, origin)
        #expect(preflight.headers["access-control-allow-headers"] == nil, "\(origin)")
      }
      let answer = try await service.client.send(
        "GET", target, headers: "Origin: https://a.example\r\n")
      #expect(answer.headers["access-control-allow-origin"] == "https://a.example")
    }
  }

  @Test("an asset's name, type and field reach no header field of its download")
  func assets() async throws {
    try await withService { service in
      let asked = try await service.askForUpload(record: "n", field: "file")
      let path = try service.path(.string(asked.uploadURLs[0]))
      // The name as browsers write it, and as one writes it who means harm.
      let form = [
        "--b", #"Content-Disposition: form-data; name="files"; filename="a%0d%0aX-Evil: 1é""#,
        "Content-Type: text/html\tX-Evil: 1", "", "<p>evil</p>", "--b--", "",
      ].joined(separator: "\r\n")
      let uploaded = try await service.client.send(
        "POST", path, headers: "Content-Type: multipart/form-data; boundary=b\r\n",
        body: Data(form.utf8))
      let file = try #require(uploaded.json["singleFile"], "\(uploaded.json)")
      let saved = try await service.modify(
        Service.operation("create", "n", #""file": {"value": \#(file.text)}"#))
      let asset = try #require(saved[0].field("file"), "\(saved.json)")
      let download = try await service.client.send("GET", try service.path(asset["downloadURL"]))
      #expect(download.text == "<p>evil</p>")
      #expect(download.headers["content-type"] == "application/octet-stream")
      #expect(download.headers["content-disposition"] == "attachment")
      Self.check(download, "the download")
    }
  }

  @Test(
    "a URL to lead browsers to that would be more in a header field is refused",
    arguments: texts.map { "https://app.example.com/" + $0 }.filter { !$0.contains("%") } + [
      "https://a;script-src", "https://a%3B%20script-src%20*/", "https://a%0d%0aX-Evil:%201/",
      "nowhere", "https:///a", "https://a.example/#b",
    ])
  func redirects(url: String) async throws {
    try await withService { service in
      let key = try await service.addAdminKey()
      let answer = try await service.adminPost(
        "keys/add-api-token",
        [
          "container": .string(Service.container), "environment": "development", "name": "web",
          "origins": [], "redirect": .string(url),
        ], key: key)
      #expect(answer.failure == "400 BAD_REQUEST", "\(answer.json)")
      #expect(answer.reason.contains("redirect"), "\(answer.reason)")
      let keys = try await service.adminGet("keys", key: key).json["keys"]?.array ?? []
      #expect(keys.map { $0["kind"]?.string } == ["admin"])
    }
  }

  @Test(
    "nor does one that is in the store already",
    arguments: texts.map { "https://app.example.com/" + $0 } + [
      "https://a;script-src", "https://a%3B%20script-src%20*/", "https://a%0d%0aX-Evil:%201/",
    ])
  func storedRedirects(url: String) async throws {
    try await withService { service in
      try await Account.setPassword(
        "secret word", ofUserNamed: "alice", in: service.store.accounts, at: .now)
      let token = try await service.addAPIToken(callback: .redirect(url: url))
      let told = try await service.client.send(
        "GET", service.target("private/users/caller", as: nil) + "ckAPIToken=\(token)")
      let browser = SignInBrowser(service)
      let form = try await browser.get(
        try #require(told.json["redirectURL"]?.string, "\(told.json)"))
      Self.check(form, url)
      let policy = form.headers["content-security-policy"] ?? ""
      #expect(!policy.contains("script-src"), "\(policy)")
      #expect(policy.split(separator: ";").count == 5, "\(policy)")
      let done = try await browser.post(
        "/sign-in", form.formFields + [("name", "alice"), ("password", "secret word")])
      #expect(done.headers["x-evil"] == nil)
      #expect(done.status == 303 || done.text.contains("cannot be sent"), "\(done.status)")
    }
  }

  // MARK: Requests to others

  /// A subscription in which every text that a client can choose is this one, as far as it is taken.
  private func subscribe(
    _ text: String, at service: Service,
    post: (String, String) async throws -> Answer
  ) async throws {
    let text = Self.json(text)
    let answer = try await post(
      "public/subscriptions/modify",
      """
      {"operations": [{"operationType": "create", "subscription": {
        "subscriptionID": \(text), "subscriptionType": "query", "firesOn": ["create"],
        "query": {"recordType": "Note"},
        "notificationInfo": {"alertBody": \(text), "soundName": \(text), "category": \(text),
          "collapseIDKey": \(text)}}}]}
      """)
    if answer.outcomes == ["ok"] { return }
    // A name with control characters is refused; the collapse ID need be no name.
    #expect(answer.outcomes == ["BAD_REQUEST"], "\(answer.json)")
    let plain = try await post(
      "public/subscriptions/modify",
      """
      {"operations": [{"operationType": "create", "subscription": {
        "subscriptionID": "plain", "subscriptionType": "query", "firesOn": ["create"],
        "query": {"recordType": "Note"},
        "notificationInfo": {"alertBody": \(text), "soundName": \(text), "category": \(text),
          "collapseIDKey": \(text)}}}]}
      """)
    try #require(plain.outcomes == ["ok"], "\(plain.json)")
  }

  @Test(
    "a push to a browser has the header fields it should have", arguments: texts + ["\0", "a\0b"])
  func webPush(text: String) async throws {
    try await withPushService { service, push in
      try await service.register(try push.subscribe())
      if text.contains("\0") {
        // No text of the store may have one: it is refused, and nothing is sent.
        let answer = try await service.post(
          "public/subscriptions/modify",
          """
          {"operations": [{"operationType": "create", "subscription": {
            "subscriptionID": "s", "subscriptionType": "query", "firesOn": ["create"],
            "query": {"recordType": "Note"},
            "notificationInfo": {"alertBody": "a", "collapseIDKey": \(Self.json(text))}}}]}
          """, as: service.alice)
        #expect(
          (answer.status == 200 ? answer.outcomes[0] : answer.json.errorCode) == "BAD_REQUEST")
        return
      }
      try await subscribe(text, at: service) { operation, body in
        try await service.post(operation, body, as: service.alice)
      }
      _ = try await service.modify(Service.operation("create", "A"), device: "phone")
      let message = try #require(try await push.wait(count: 1).first)
      #expect(message.faults == [])
      #expect(message.json?["aps"]?["alert"]?.string == text)
      #expect(
        Set(message.headers.keys).subtracting([":method", ":path", ":scheme", ":authority"]) == [
          "ttl", "urgency", "content-encoding", "content-type", "content-length", "authorization",
          "topic", "user-agent",
        ])
      #expect(message.headers["topic"]?.wholeMatch(of: /[A-Za-z0-9_-]{32}/) != nil)
    }
  }

  @Test("a message to a webhook has the header fields it should have", arguments: texts)
  func webhook(text: String) async throws {
    let heads = Mutex<[[String: String]]>([])
    let receiver = HTTPServer(configuration: HTTPServer.Configuration()) { request in
      let fields = Dictionary(
        request.headers.map { ($0.name.lowercased(), $0.value) },
        uniquingKeysWith: { $0 + "\n" + $1 })
      heads.withLock { $0.append(fields) }
      return HTTPResponse(status: 204)
    }
    try receiver.start()
    var settings = ServiceSettings()
    var webhooks = WebhookSettings()
    webhooks.outbound.allowedNetworks = ["127.0.0.0/8"].compactMap(IPNetwork.init)
    webhooks.outbound.allowsHTTP = true
    settings.webhooks = webhooks
    do {
      try await withService(settings) { service in
        let program = try await ServerKeyClient(service)
        let url = "http://127.0.0.1:\(receiver.port)/hook"
        let broken = try await program.post(
          "webhooks/register", #"{"url": \#(Self.json("\(url)/\(text) é"))}"#)
        #expect(broken.failure == "400 BAD_REQUEST", "\(broken.json)")
        _ = try await program.post("webhooks/register", #"{"url": "\#(url)"}"#)
        try await subscribe(text, at: service) { try await program.post($0, $1) }
        _ = try await service.modify(Service.operation("create", "A"))
        try await eventually("the message comes") { heads.withLock { !$0.isEmpty } }
        let head = heads.withLock { $0[0] }
        #expect(
          Set(head.keys) == [
            "host", "user-agent", "content-type", "content-length", "webhook-id",
            "webhook-timestamp", "webhook-signature",
          ])
        #expect(head["webhook-id"].flatMap(UUID.init) != nil)
        #expect(head["webhook-signature"]?.wholeMatch(of: #/v1,[A-Za-z0-9+/]{43}=/#) != nil)
      }
    } catch {
      await receiver.stop(within: .zero)
      throw error
    }
    await receiver.stop(within: .zero)
  }
}
