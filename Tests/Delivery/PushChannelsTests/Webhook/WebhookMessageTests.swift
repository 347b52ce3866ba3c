import CloudKitModel
import Foundation
import JSONCoding
import OutboundHTTP
import PythonPrograms
import Testing

@testable import PushChannels

@Suite(.enabled(if: Python.isInstalled))
struct WebhookMessageTests {
  private let secret = WebhookSecret.random()

  private func send(
    _ notification: SubscriptionNotification, to url: String, over client: HTTPClient,
    signedWith secret: WebhookSecret? = nil
  ) async throws -> PushAnswer {
    let message = WebhookMessage(
      notification, badge: nil, url: try Fixture.url(url), webhook: "hook-1")
    return await withCheckedContinuation { continuation in
      message.send(over: client, signedWith: secret ?? self.secret) {
        continuation.resume(returning: $0)
      }
    }
  }

  private func withReceiver(
    _ statuses: [Int] = [], _ body: (WebhookReceiver, HTTPClient) async throws -> Void
  ) async throws {
    let receiver = try await WebhookReceiver(secret: secret.text, statuses: statuses)
    defer { receiver.stop() }
    try await Fixture.withClient { client in
      try await body(receiver, client)
    }
  }

  @Test("gets what the web courier gives, with a signature that the library for Python takes")
  func arrives() async throws {
    try await withReceiver { receiver, client in
      let notification = Fixture.notification(fields: ["title": .string("Grüße ☃")]) {
        $0.desiredKeys = ["title"]
      }
      let result = try await send(notification, to: receiver.url, over: client)
      #expect(result.next == .done)
      let message = try #require(receiver.messages.first)
      #expect(message["verified"] == true, "\(message.text)")
      let payload = PushPayload(notification, badge: nil, reader: .courier)
      let json = try JSONValue(parsing: Data(payload.bytes))
      #expect(message["value"] == json)
      #expect(message["type"] == "application/json")
      #expect(message["path"] == "/hook")
      #expect(
        message["id"]?.string
          == notification.deliveryID(forDevice: "hook-1").uuidString.lowercased())
    }
  }

  @Test("a repeat has the same ID and a signature of its own time")
  func repeats() async throws {
    try await withReceiver([500]) { receiver, client in
      let notification = Fixture.notification()
      let first = try await send(notification, to: receiver.url, over: client)
      #expect(first.isRetried(after: 0.5))
      let second = try await send(notification, to: receiver.url, over: client)
      #expect(second.next == .done)
      let messages = receiver.messages
      #expect(messages.map { $0["verified"] } == [true, true])
      #expect(messages[0]["id"] == messages[1]["id"])
      let other = Fixture.notification(subscriptionID: "other")
      _ = try await send(other, to: receiver.url, over: client)
      #expect(receiver.messages[2]["id"] != messages[0]["id"])
    }
  }

  @Test("signed with another secret is not taken by the receiver's library")
  func forged() async throws {
    try await withReceiver { receiver, client in
      _ = try await send(
        Fixture.notification(), to: receiver.url, over: client, signedWith: .random())
      #expect(receiver.messages.first?["verified"] == false)
    }
  }

  @Test("each answer has its outcome, and redirects are not followed")
  func outcomes() async throws {
    let retried = [301, 307, 400, 401, 403, 404, 408, 413, 500, 502, 503]
    let statuses = [200, 201, 204, 410] + retried + [429]
    try await withReceiver(statuses) { receiver, client in
      for status in statuses {
        let result = try await send(Fixture.notification(), to: receiver.url, over: client)
        switch status {
        case 200...299: #expect(result.next == .done)
        case 410: #expect(result.next == .dropDevice && result.invalidSince == nil)
        case 429: #expect(result.isRetried(after: 7.5))
        default: #expect(result.isRetried(after: 0.5), "\(status)")
        }
        #expect(result.status == status)
        #expect(result.next == .done || result.reason.contains("answered \(status)"))
      }
      #expect(receiver.messages.count == statuses.count)
    }
  }

  @Test("the example of the Standard Webhooks specification has its signature")
  func vector() throws {
    let bytes = try #require(Data(base64Encoded: "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"))
    let signature = WebhookSecret(bytes: Array(bytes)).signature(
      ofMessage: "msg_p5jXN8AQM9LWM0D4loKWxJek", sentAt: "1614265330",
      body: Array(#"{"test": 2432232314}"#.utf8))
    #expect(signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=")
  }
}
