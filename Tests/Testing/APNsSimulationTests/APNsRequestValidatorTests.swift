import CloudKitModel
import Cryptography
import Foundation
import Testing

@testable import APNsSimulation

struct APNsRequestValidatorTests {
  private let now = Timestamp(milliseconds: 1_767_225_600_000)
  private let fixture: RequestFixture
  private let validator: APNsRequestValidator

  init() throws {
    fixture = try RequestFixture()
    validator = APNsRequestValidator(keys: [fixture.registeredKey()])
  }

  /// The reason that a changed request gets; nil when it is accepted.
  private func reason(
    payload: String = #"{"aps":{"alert":"Bula"}}"#, validator: APNsRequestValidator? = nil,
    change: (inout SimulatedRequest) -> Void = { _ in }
  ) throws -> APNsReason? {
    var session = ProviderTokenSession()
    do {
      let request = try fixture.request(now: now, payload: payload, change: change)
      try (validator ?? self.validator).validate(request, session: &session, now: now)
      return nil
    } catch let rejection as APNsRejection {
      return rejection.reason
    }
  }

  private func reason(header: String, _ value: String?) throws -> APNsReason? {
    try reason { $0.set(header, value) }
  }

  @Test("a complete request, and one with only what is required")
  func accepted() throws {
    #expect(try reason() == nil)
    let minimal = try reason { request in
      for name in ["apns-push-type", "apns-priority", "apns-expiration", "apns-id"] {
        request.set(name, nil)
      }
    }
    #expect(minimal == nil)
  }

  @Test("each header's rule has its reason")
  func headers() throws {
    #expect(try reason(header: "apns-id", "17") == .badMessageIdentifier)
    #expect(try reason(header: "apns-topic", nil) == .missingTopic)
    #expect(try reason(header: "apns-topic", "") == .missingTopic)
    #expect(try reason(header: "apns-topic", "com example") == .badTopic)
    #expect(try reason(header: "apns-collapse-id", String(repeating: "x", count: 64)) == nil)
    #expect(
      try reason(header: "apns-collapse-id", String(repeating: "é", count: 33))
        == .badCollapseIdentifier)
    for bad in ["7", "", "010", "high"] {
      #expect(try reason(header: "apns-priority", bad) == .badPriority)
    }
    for good in ["1", "5"] { #expect(try reason(header: "apns-priority", good) == nil) }
    for bad in ["", "-1", "1.5", "soon", "99999999999999999999", "+1"] {
      #expect(try reason(header: "apns-expiration", bad) == .badExpirationDate)
    }
    #expect(try reason(header: "apns-expiration", "1767312001") == nil)
    #expect(try reason(header: "apns-push-type", "loud") == .invalidPushType)
    #expect(try reason { $0.headers.append((name: "apns-id", value: "x")) } == .duplicateHeaders)
    #expect(try reason { $0.headers += [("accept", "a"), ("accept", "b")] } == nil)
  }

  @Test("method and path")
  func methodAndPath() throws {
    #expect(try reason { $0.method = "GET" } == .methodNotAllowed)
    for path in ["/", "/3/devices/00", "/2/device/00", "3/device/00"] {
      #expect(try reason { $0.path = path } == .badPath)
    }
    #expect(try reason { $0.path = "/3/device/" } == .missingDeviceToken)
    #expect(try reason { $0.path = "/3/device" } == .missingDeviceToken)
  }

  @Test("the device token is hexadecimal; its case does not count")
  func deviceToken() throws {
    func reason(_ token: String) throws -> APNsReason? {
      try self.reason { $0.path = "/3/device/" + token }
    }
    let bad = [
      "00", String(repeating: "0", count: 65), String(repeating: "g", count: 64),
      String(repeating: "0", count: 202), String(repeating: "0", count: 63) + "?",
    ]
    for token in bad { #expect(try reason(token) == .badDeviceToken, "\(token)") }
    #expect(try reason(String(repeating: "AF", count: 32)) == nil)
    #expect(try reason(String(repeating: "0", count: 160)) == nil)
  }

  @Test("a device that is known for another topic")
  func deviceTopic() throws {
    var validator = validator
    validator.topicsOfDevices = [RequestFixture.deviceToken: ["com.example.other"]]
    #expect(try reason(validator: validator) == .deviceTokenNotForTopic)
    validator.topicsOfDevices[RequestFixture.deviceToken]?.insert(RequestFixture.topic)
    #expect(try reason(validator: validator) == nil)
  }

  @Test("keys that are restricted to topics or to an environment")
  func restrictedKeys() throws {
    func reason(_ key: ProviderKey) throws -> APNsReason? {
      try self.reason(validator: APNsRequestValidator(keys: [key], environment: .development))
    }
    #expect(try reason(fixture.registeredKey(topics: ["com.example.other"])) == .topicDisallowed)
    #expect(try reason(fixture.registeredKey(topics: [RequestFixture.topic])) == nil)
    #expect(
      try reason(fixture.registeredKey(environment: .production)) == .badEnvironmentKeyInToken)
    #expect(try reason(fixture.registeredKey(environment: .development)) == nil)
  }

  @Test("payloads")
  func payloads() throws {
    for payload in ["", "{", "[]", "{}", "7", #"{"aps":"x"}"#, "\u{FF}"] {
      #expect(try reason(payload: payload) == .payloadEmpty, "\(payload)")
    }
    func payload(size: Int) -> String {
      let head = #"{"aps":{"alert":"Bula"},"x":""#
      return head + String(repeating: "x", count: size - head.utf8.count - 2) + "\"}"
    }
    #expect(try reason(payload: payload(size: 4096)) == nil)
    #expect(try reason(payload: payload(size: 4097)) == .payloadTooLarge)
    #expect(
      try reason(payload: payload(size: 5120)) { $0.set("apns-push-type", "voip") } == nil)
    #expect(
      try reason(payload: payload(size: 5121)) { $0.set("apns-push-type", "voip") }
        == .payloadTooLarge)
  }

  @Test("priority and push type agree with the payload")
  func agreement() throws {
    func reason(_ type: String?, _ priority: String?, _ aps: String) throws -> APNsReason? {
      try self.reason(payload: #"{"aps":\#(aps),"ck":{}}"#) {
        $0.set("apns-push-type", type)
        $0.set("apns-priority", priority)
      }
    }
    let silent = #"{"content-available":1}"#
    #expect(try reason("background", "5", silent) == nil)
    #expect(try reason("background", "5", #"{"content-available":1,"category":"A"}"#) == nil)
    #expect(try reason("background", "10", silent) == .badPriority)
    #expect(try reason("alert", "10", silent) == .badPriority)
    #expect(try reason(nil, nil, silent) == .badPriority)
    #expect(
      try reason("background", nil, #"{"content-available":1,"category":"A"}"#) == .badPriority)
    #expect(try reason("alert", "10", #"{"content-available":1,"badge":0}"#) == nil)
    for visible in [#""alert":"x""#, #""badge":1"#, #""sound":"default""#] {
      #expect(
        try reason("background", "5", #"{"content-available":1,\#(visible)}"#) == .invalidPushType)
    }
    #expect(try reason("background", "5", "{}") == .invalidPushType)
    #expect(try reason("background", "5", #"{"content-available":0}"#) == .invalidPushType)
  }

  @Test("the first broken rule decides, in the documented order")
  func order() throws {
    let steps: [(APNsReason, @Sendable (inout SimulatedRequest) -> Void)] = [
      (.duplicateHeaders, { $0.headers.append((name: "apns-topic", value: "x")) }),
      (.badMessageIdentifier, { $0.headers = $0.headers.filter { $0.value != "x" } }),
      (.methodNotAllowed, { $0.set("apns-id", nil) }),
      (.missingTopic, { $0.method = "POST" }),
      (.badCollapseIdentifier, { $0.set("apns-topic", RequestFixture.topic) }),
      (.badPriority, { $0.set("apns-collapse-id", nil) }),
      (.badExpirationDate, { $0.set("apns-priority", "10") }),
      (.invalidPushType, { $0.set("apns-expiration", nil) }),
      (.badPath, { $0.set("apns-push-type", "background") }),
      (.missingDeviceToken, { $0.path = "/3/device/" }),
      (.badDeviceToken, { $0.path = "/3/device/xyz" }),
      (.missingProviderToken, { $0.path = "/3/device/" + RequestFixture.deviceToken }),
    ]
    var request = try fixture.request(now: now, payload: "") {
      $0.set("apns-topic", nil)
      $0.set("apns-id", "bad")
      $0.method = "PUT"
      $0.set("apns-collapse-id", String(repeating: "c", count: 65))
      $0.set("apns-priority", "bad")
      $0.set("apns-expiration", "bad")
      $0.set("apns-push-type", "bad")
      $0.path = "/bad"
      $0.set("authorization", nil)
      $0.headers.append((name: "apns-topic", value: "x"))
    }
    var session = ProviderTokenSession()
    for (expected, change) in steps {
      change(&request)
      if expected == .missingTopic { request.set("apns-topic", nil) }
      #expect {
        try validator.validate(request, session: &session, now: now)
      } throws: { error in
        (error as? APNsRejection)?.reason == expected
      }
    }
    request.set("authorization", "bearer " + (try fixture.providerToken(issued: now)))
    #expect {
      try validator.validate(request, session: &session, now: now)
    } throws: { ($0 as? APNsRejection)?.reason == .payloadEmpty }
  }
}
