import APNsSimulation
import CloudKit
import Testing

struct PushHeaderTests {
  @Test("A server that starts again goes on with its provider token, as APNs wants few of them")
  func providerToken() async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.registeredContainer(of: "anna", device: "phone")
      try await phone.privateCloudDatabase.subscribe(where: .all, info: .init(alertBody: "New"))
      let laptop = try await cloud.container(of: "anna", device: "laptop").privateCloudDatabase
      try await laptop.add("Item", "A")
      let first = try await cloud.pushes()[0].headers["authorization"]
      await cloud.stopServer()
      try await cloud.startServer()
      try await laptop.add("Item", "B")
      let second = try await cloud.pushes(2)[1].headers["authorization"]
      #expect(first != nil && second == first)
    }
  }

  @Test(
    "A collapse ID stays in its field, as it is or as its hash, and the push arrives",
    arguments: [
      ("a\r\nx-evil: 1", nil), ("a\nx-evil: 1", nil), ("a\rb", nil), ("a\r\n\r\nevil", nil),
      ("\r\n", nil), ("\t", nil),
      ("a\u{7F}", nil), (" a", nil), ("a ", nil), ("a b", "a b"), ("é", "é"),
      ("a\u{85}b", "a\u{85}b"),
      ("a\u{2028}b", "a\u{2028}b"), ("a\u{560A}b", "a\u{560A}b"), (":method", ":method"),
    ] as [(String, String?)])
  func collapseID(key: String, value: String?) async throws {
    try await Cloud.run { cloud in
      let phone = try await cloud.registeredContainer(of: "anna", device: "phone")
      let laptop = try await cloud.container(of: "anna", device: "laptop").privateCloudDatabase
      let info = CKSubscription.NotificationInfo(alertBody: "a\r\nx-evil: 1")
      info.collapseIDKey = key
      try await phone.privateCloudDatabase.subscribe(where: .all, info: info)
      try await laptop.add("Item", "A")
      let push = try await cloud.pushes()[0]
      #expect(
        Set(push.headers.keys) == [
          "authorization", "apns-topic", "apns-push-type", "apns-priority", "apns-expiration",
          "apns-id", "apns-collapse-id",
        ])
      let sent = try #require(push.headers["apns-collapse-id"])
      if let value {
        #expect(sent.utf8.elementsEqual(value.utf8))
      } else {
        #expect(sent.wholeMatch(of: /[A-Za-z0-9_-]{43}/) != nil, "\(sent.debugDescription)")
      }
      #expect(push.headers["apns-topic"] == Cloud.topic)
      #expect(push.path == "/3/device/\(Cloud.deviceTokenText(of: "anna", device: "phone"))")
    }
  }
}
