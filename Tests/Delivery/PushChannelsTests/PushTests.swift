import CloudKitModel
import Foundation
import HTTP2Transport
import Testing

@testable import PushChannels

struct PushTests {
  private let issued = Timestamp(milliseconds: 1_767_225_600_001)

  private func push(
    _ info: NotificationInfo?, subscriptionID: String = "new-art", token: String = "00FF"
  ) -> Push {
    let notification = NotificationFixture.query(info, subscriptionID: subscriptionID)
    return Push(
      notification, payload: PushPayload(notification, badge: 1, reader: .apns),
      deviceToken: token, topic: "com.example.app", issued: issued)
  }

  private func headers(_ push: Push) -> [String: String] {
    Dictionary(uniqueKeysWithValues: push.headers.map { ($0.name, $0.value) })
  }

  @Test(
    "each property that stands in aps makes an alert of priority 10 that is kept for a day",
    arguments: [false, true])
  func alert(wakes: Bool) {
    let properties: [(inout NotificationInfo) -> Void] = [
      { $0.alertBody = "x" }, { $0.alertLocalizationKey = "x" }, { $0.title = "x" },
      { $0.titleLocalizationKey = "x" }, { $0.subtitle = "x" },
      { $0.subtitleLocalizationKey = "x" },
      { $0.alertActionLocalizationKey = "x" }, { $0.alertLaunchImage = "x.png" },
      { $0.soundName = "default" }, { $0.shouldBadge = true }, { $0.category = "x" },
      { $0.shouldSendMutableContent = true },
    ]
    for property in properties {
      var info = NotificationInfo()
      info.shouldSendContentAvailable = wakes
      property(&info)
      let push = push(info)
      #expect(push.path == "/3/device/00ff")
      #expect(
        headers(push) == [
          "apns-topic": "com.example.app", "apns-push-type": "alert", "apns-priority": "10",
          "apns-expiration": "1767312001",
          "apns-id": push.identifier.uuidString.lowercased(),
        ])
    }
  }

  @Test(
    "what stands outside aps makes a background push of priority 5 that is kept for an hour",
    arguments: [false, true])
  func background(wakes: Bool) {
    let properties: [(inout NotificationInfo) -> Void] = [
      { _ in }, { $0.desiredKeys = ["title"] }, { $0.collapseIDKey = "x" },
      { $0.alertLocalizationArgs = ["title"] }, { $0.titleLocalizationArgs = ["title"] },
      { $0.subtitleLocalizationArgs = ["title"] },
    ]
    let infos = properties.map { property in
      var info = NotificationInfo()
      info.shouldSendContentAvailable = wakes
      property(&info)
      return info
    }
    for info in infos + [nil] {
      var headers = headers(push(info))
      headers["apns-collapse-id"] = nil
      #expect(headers["apns-push-type"] == "background")
      #expect(headers["apns-priority"] == "5")
      #expect(headers["apns-expiration"] == "1767229201")
    }
  }

  @Test("the collapse ID is the literal value; what no header can hold becomes its hash")
  func collapse() {
    func collapseID(_ key: String) -> String? {
      push(NotificationFixture.info { $0.collapseIDKey = key }).collapseID
    }
    #expect(collapseID("art of é") == "art of é")
    #expect(collapseID(String(repeating: "x", count: 64)) == String(repeating: "x", count: 64))
    #expect(collapseID("") == nil)
    let bad = ["a\nb", " a", "a ", "\u{7F}", String(repeating: "x", count: 65)]
    let hashes = bad.compactMap(collapseID)
    #expect(Set(hashes).count == bad.count)
    #expect(hashes.allSatisfy { $0.utf8.count == 43 })
    #expect(collapseID("a\nb") == collapseID("a\nb"))
  }

  @Test(
    "the apns-id depends on notification, subscription, subscriber and device, and only on them")
  func identifier() {
    func identifier(
      _ notification: UUID = NotificationFixture.notificationID, _ subscription: String = "s",
      _ subscriber: String = "_u", _ token: String = "00"
    ) -> UUID {
      PushIdentifier.apnsID(
        notificationID: notification, subscriptionID: subscription, subscriber: subscriber,
        deviceToken: token)
    }
    #expect(identifier() != identifier(UUID()))
    let names = [
      identifier(), identifier(NotificationFixture.notificationID, "s_"),
      identifier(NotificationFixture.notificationID, "s_", "u"),
      identifier(NotificationFixture.notificationID, "s", "_v"),
      identifier(NotificationFixture.notificationID, "s", "_u0", "0"),
      identifier(NotificationFixture.notificationID, "s", "_u", "01"),
    ]
    #expect(Set(names).count == names.count)
    #expect(identifier() == identifier())
    let bytes = identifier().uuid
    #expect(bytes.6 >> 4 == 8)
    #expect(bytes.8 >> 6 == 0b10)
    // Made once with another implementation of SHA-256 (Python's hashlib).
    #expect(identifier().uuidString.lowercased() == "2b90081c-e60a-8100-8008-ac7ad2492037")
  }

  @Test("the request has the push's path, headers and payload, behind the authorization")
  func request() {
    for collapseID in [nil, "room-1"] {
      for expiration in [issued, Timestamp(milliseconds: -1500), Timestamp(milliseconds: 0)] {
        var push = push(NotificationFixture.info { $0.alertBody = "Bula" })
        push.collapseID = collapseID
        push.expiration = expiration
        for authorization in [nil, "bearer token"] {
          let request = HTTP2Request(push, authorization: authorization)
          let expected =
            [":method: POST", ":path: \(push.path)"]
            + (authorization.map { ["authorization: \($0)"] } ?? [])
            + push.headers.map { "\($0.name): \($0.value)" }
          #expect(request.headers.map { "\($0.name): \($0.value)" } == expected)
          #expect(request.body == push.payload.bytes)
        }
      }
    }
  }

  @Test("the same push for the same device has the same identifier, whatever the token's case")
  func stable() {
    #expect(push(nil, token: "ABCDEF").identifier == push(nil, token: "abcdef").identifier)
    #expect(push(nil, token: "ABCDEF").identifier != push(nil, token: "abcdee").identifier)
    #expect(push(nil).identifier != push(nil, subscriptionID: "other").identifier)
  }
}
