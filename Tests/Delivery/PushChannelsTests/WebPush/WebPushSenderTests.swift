import CloudKitModel
import Cryptography
import Foundation
import JSONCoding
import OutboundHTTP
import Synchronization
import Testing
import WebPushSimulation

@testable import PushChannels

struct WebPushSenderTests {
  /// A push service, a browser that subscribed there, and a sender.
  private func withService(
    time: Double = 30, trusts: Bool = true, rules: AddressRules = Fixture.loopback,
    _ body: (SimulatedPushService, BrowserSubscription, WebPushSender) async throws -> Void
  ) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let service = try SimulatedPushService(folder: folder.path)
    let browser = try service.subscribe()
    do {
      let authorityFile = trusts ? service.authorityFile : nil
      try await Fixture.withClient(authorityFile: authorityFile, time: time, rules: rules) {
        client in
        let sender = try WebPushSender(
          client: client, key: try ES256PrivateKey(), subject: "mailto:ops@example.com")
        try await body(service, browser, sender)
      }
    } catch {
      await service.stop()
      throw error
    }
    await service.stop()
  }

  private func message(
    _ notification: SubscriptionNotification, to browser: BrowserSubscription,
    issued: Timestamp = .now, badge: Int? = nil
  ) throws -> WebPushMessage {
    WebPushMessage(
      notification, badge: badge, endpoint: try Fixture.url(browser.endpoint),
      keys: try browser.keys, issued: issued)
  }

  private func send(
    _ message: WebPushMessage, with sender: WebPushSender, refusedSince: Timestamp? = nil
  ) async -> PushAnswer {
    await withCheckedContinuation { continuation in
      sender.send(message, refusedSince: refusedSince) {
        continuation.resume(returning: $0)
      }
    }
  }

  @Test("a notification arrives as the payload that APNs would get")
  func arrives() async throws {
    try await withService { service, browser, sender in
      let notification = Fixture.notification { $0.shouldBadge = true }
      let result = await send(try message(notification, to: browser, badge: 3), with: sender)
      #expect(result.next == .done)
      let message = try #require(service.messages.first)
      #expect(message.faults == [])
      #expect(message.text == PushPayload(notification, badge: 3, reader: .apns).text)
      #expect(message.headers["urgency"] == "high")
      #expect(message.headers["ttl"] == "86400")
      #expect(message.headers["topic"] == nil)
    }
  }

  @Test("what only wakes the app is less urgent and lives an hour; its time to live runs")
  func silent() async throws {
    try await withService { service, browser, sender in
      let notification = Fixture.notification(alert: nil)
      _ = await send(try message(notification, to: browser), with: sender)
      let old = try message(
        notification, to: browser, issued: Timestamp.now.advanced(bySeconds: -3000))
      _ = await send(old, with: sender)
      #expect(service.messages.map { $0.headers["urgency"] } == ["normal", "normal"])
      try #require(service.messages.count == 2)
      let times = service.messages.compactMap { $0.headers["ttl"].flatMap { Int($0) } }
      #expect(times[0] == 3600)
      #expect((590...600).contains(times[1]), "\(times)")
    }
  }

  @Test("a collapse ID of any kind is a topic of 32 characters, the same for the same ID alone")
  func topics() throws {
    let browser = try BrowserSubscription(endpoint: "https://push.example.com/1")
    func topic(_ key: String?) throws -> String? {
      let url = try OutboundURL(browser.endpoint)
      return WebPushMessage(
        Fixture.notification(collapseID: key), badge: nil, endpoint: url, keys: try browser.keys,
        issued: .now
      ).topic
    }
    #expect(try topic(nil) == nil)
    #expect(try topic("") == nil)
    let keys = ["a", "b", "Grüße", String(repeating: "x", count: 64), " a"]
    let topics = try keys.map { try #require(try topic($0)) }
    #expect(topics.allSatisfy { $0.utf8.count == 32 && Base64URL.decode($0) != nil })
    #expect(Set(topics).count == keys.count)
    #expect(try topic("a") == topics[0])
  }

  @Test("the largest notification is pruned to a message of 4096 bytes at most, and marked")
  func pruning() async throws {
    try await withService { service, browser, sender in
      for size in [3_000, 3_600, 3_700, 3_800, 5_000, 50_000] {
        let notification = Fixture.notification(
          alert: String(repeating: "x", count: size), fields: ["title": .string("Mona")]
        ) { $0.desiredKeys = ["title"] }
        let result = await send(try message(notification, to: browser), with: sender)
        #expect(result.next == .done, "\(result.reason)")
      }
      let bodies = service.messages.map(\.body.count)
      #expect(bodies.allSatisfy { $0 <= 4096 }, "\(bodies)")
      let marks = service.messages.map { $0.json?["ck"]?["p"] != nil }
      #expect(marks.first == false)
      #expect(marks.last == true)
      for message in service.messages {
        #expect(message.json?["ck"]?["qry"]?["sid"] == "new-art")
      }
    }
  }

  @Test("requests to one origin bear the same token")
  func tokens() async throws {
    try await withService { service, browser, sender in
      for _ in 0..<3 {
        _ = await send(try message(Fixture.notification(), to: browser), with: sender)
      }
      let other = try service.subscribe()
      _ = await send(try message(Fixture.notification(), to: other), with: sender)
      #expect(Set(service.messages.map { $0.headers["authorization"] }).count == 1)
      #expect(
        service.messages[0].headers["authorization"]?.hasSuffix("k=" + sender.publicKey) == true)
    }
  }

  /// The expected result of a message with such an answer: one row for each status of the table.
  enum Expected: Sendable {
    case delivered
    case dropped
    case retried(after: Double)
    case refused(after: Double)
    case givenUp
  }

  @Test(
    "each answer has its outcome",
    arguments: [
      (200, nil, .delivered), (201, nil, .delivered), (202, nil, .delivered),
      (204, nil, .delivered),
      (301, nil, .givenUp), (307, nil, .givenUp),
      (400, nil, .givenUp), (401, nil, .retried(after: 0.5)), (403, nil, .refused(after: 0.5)),
      (403, "40", .refused(after: 40)),
      (404, nil, .dropped), (405, nil, .givenUp), (408, nil, .retried(after: 0.5)),
      (410, nil, .dropped), (413, nil, .givenUp), (425, nil, .retried(after: 0.5)),
      (429, nil, .retried(after: 7.5)), (429, "40", .retried(after: 40)),
      (429, "1", .retried(after: 7.5)), (429, "9999999", .retried(after: 86_400)),
      (429, "soon", .retried(after: 7.5)),
      (500, nil, .retried(after: 0.5)), (502, nil, .retried(after: 0.5)),
      (503, "120", .retried(after: 120)), (503, nil, .retried(after: 0.5)),
      (504, nil, .retried(after: 0.5)),
    ] as [(Int, String?, Expected)])
  func outcomes(status: Int, retryAfter: String?, expected: Expected) async throws {
    try await withService { service, browser, sender in
      let headers = retryAfter.map { [("retry-after", $0)] } ?? []
      // An answer with the status 204 has no body.
      let body = status == 204 ? "" : "because\u{1b}[31m"
      service.script([.init(status, headers, body: body)], for: browser)
      let result = await send(try message(Fixture.notification(), to: browser), with: sender)
      switch expected {
      case .delivered: #expect(result.next == .done)
      case .dropped: #expect(result.next == .dropDevice && result.invalidSince == nil)
      case .retried(let seconds): #expect(result.isRetried(after: seconds))
      case .refused(let seconds):
        #expect(result.next == .refuseDevice(.service) && result.firstDelay == seconds)
      case .givenUp: #expect(result.next == .fault)
      }
      #expect(result.status == status)
      #expect(result.next == .done || result.reason.contains("answered \(status)"))
      #expect(!result.reason.contains("\u{1b}"))
      if status == 403 { #expect(result.reason.contains("VAPID")) }
    }
  }

  @Test("a refusal a day after the first one removes the browser, and an earlier one does not")
  func secondRefusal() async throws {
    try await withService { service, browser, sender in
      service.script(Array(repeating: .init(403), count: 2), for: browser)
      for (age, next) in [
        (86_000.0, PushAnswer.Next.refuseDevice(.service)), (86_401.0, .dropDevice),
      ] {
        let result = await send(
          try message(Fixture.notification(), to: browser), with: sender,
          refusedSince: Timestamp.now.advanced(bySeconds: -age))
        #expect(result.next == next, "\(result)")
        #expect(result.reason.contains("answered 403"))
      }
    }
  }

  @Test("a date in Retry-After counts from now")
  func retryDate() async throws {
    try await withService { service, browser, sender in
      let format = DateFormatter()
      format.locale = Locale(identifier: "en_US_POSIX")
      format.timeZone = TimeZone(identifier: "GMT")
      format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
      let date = format.string(from: Date.now.addingTimeInterval(1000))
      service.script([.init(503, [("retry-after", date)])], for: browser)
      let result = await send(try message(Fixture.notification(), to: browser), with: sender)
      #expect(result.next == .retry(.service, .device))
      #expect((900...1000).contains(try #require(result.firstDelay)))
    }
  }

  @Test("no answer, a lost service and one that is not trusted are tried again")
  func trouble() async throws {
    try await withService(time: 0.3) { service, browser, sender in
      service.script([.missing], for: browser)
      let silent = await send(try message(Fixture.notification(), to: browser), with: sender)
      #expect(silent.isRetried(after: 0.5))
      #expect(silent.reason.contains("did not answer in time"))
      await service.stop()
      let gone = await send(try message(Fixture.notification(), to: browser), with: sender)
      #expect(gone.isRetried(after: 0.5))
    }
    try await withService(trusts: false) { service, browser, sender in
      let result = await send(try message(Fixture.notification(), to: browser), with: sender)
      #expect(result.isRetried(after: 0.5))
      #expect(result.reason.contains("cannot be trusted"))
      #expect(service.messages.isEmpty)
    }
  }

  @Test("an endpoint whose name means this machine is not connected to")
  func privateAddress() async throws {
    try await withService(rules: AddressRules()) { service, browser, sender in
      let endpoint = browser.endpoint.replacing("127.0.0.1", with: "localhost")
      let message = WebPushMessage(
        Fixture.notification(), badge: nil, endpoint: try OutboundURL(endpoint),
        keys: try browser.keys, issued: .now)
      let result = await send(message, with: sender)
      #expect(result.isRetried(after: 0.5))
      #expect(result.reason.contains("not a public address"))
      #expect(service.messages.isEmpty)
    }
  }
}

extension PushAnswer {
  /// The seconds until the second attempt.
  var firstDelay: Double? { delay(attempts: 0, pauses: 0, random: 0) }

  /// Whether the message is sent again after this time, and only the device waits as long.
  func isRetried(after seconds: Double) -> Bool {
    guard case .retry(_, .device) = next else { return false }
    return firstDelay == seconds
  }
}
