import CloudKitModel
import Cryptography
import Foundation
import HTTP2Transport
import JSONCoding
import Testing

@testable import APNsSimulation

@Suite(.timeLimit(.minutes(1)))
struct APNsReasonOverWireTests {
  private static let otherKey: ES256PrivateKey? = try? ES256PrivateKey()

  /// The requests that provoke a reason: the last one gets it, those before it are accepted.
  private func requests(
    for reason: APNsReason, _ test: TestSimulator
  ) throws -> [SimulatedRequest]? {
    let fixture = test.fixture
    let otherKey = try #require(Self.otherKey)
    func one(_ change: (inout SimulatedRequest) -> Void) throws -> [SimulatedRequest] {
      [try test.request(change)]
    }
    func token(
      ageInSeconds age: Double = 0, keyID: String? = nil, key: ES256PrivateKey? = nil
    ) throws -> String {
      "bearer "
        + (try fixture.providerToken(
          issued: Timestamp.now.advanced(bySeconds: -age), keyID: keyID.map { .string($0) },
          key: key))
    }
    switch reason {
    case .badCollapseIdentifier:
      return try one { $0.set("apns-collapse-id", String(repeating: "x", count: 65)) }
    case .badDeviceToken: return try one { $0.path = "/3/device/nonsense" }
    case .badExpirationDate: return try one { $0.set("apns-expiration", "tomorrow") }
    case .badMessageIdentifier: return try one { $0.set("apns-id", "1") }
    case .badPriority: return try one { $0.set("apns-priority", "2") }
    case .badTopic: return try one { $0.set("apns-topic", "no topic") }
    case .deviceTokenNotForTopic:
      let token = String(repeating: "dd", count: 32)
      test.simulator.setTopics(["com.example.other"], of: token.uppercased())
      return try one { $0.path = "/3/device/" + token }
    case .duplicateHeaders:
      return try one { $0.headers.append((name: "apns-topic", value: RequestFixture.topic)) }
    case .invalidPushType: return try one { $0.set("apns-push-type", "shout") }
    case .missingDeviceToken: return try one { $0.path = "/3/device/" }
    case .missingTopic: return try one { $0.set("apns-topic", nil) }
    case .payloadEmpty: return try one { $0.body = [] }
    case .topicDisallowed:
      let authorization = try token(keyID: "TOPIC67890", key: otherKey)
      return try one { $0.set("authorization", authorization) }
    case .badEnvironmentKeyInToken:
      let authorization = try token(keyID: "ENVIRONMEN", key: otherKey)
      return try one { $0.set("authorization", authorization) }
    case .expiredProviderToken:
      let authorization = try token(ageInSeconds: 3700)
      return try one { $0.set("authorization", authorization) }
    case .invalidProviderToken:
      let authorization = try token(key: otherKey)
      return try one { $0.set("authorization", authorization) }
    case .missingProviderToken: return try one { $0.set("authorization", nil) }
    case .unrelatedKeyInToken:
      let authorization = try token(keyID: "SECOND7890", key: otherKey)
      return [
        try test.request(), try test.request { $0.set("authorization", authorization) },
      ]
    case .badPath: return try one { $0.path = "/3/devices" }
    case .methodNotAllowed: return try one { $0.method = "PUT" }
    case .payloadTooLarge: return try one { $0.body = Array(repeating: 32, count: 4097) }
    case .tooManyProviderTokenUpdates:
      let authorization = try token(ageInSeconds: 60)
      return [
        try test.request(), try test.request { $0.set("authorization", authorization) },
      ]
    case .badCertificate, .badCertificateEnvironment, .expiredToken, .forbidden, .idleTimeout,
      .internalServerError, .serviceUnavailable, .shutdown, .tooManyRequests, .unregistered:
      return nil
    }
  }

  @Test("is provoked by a request, or else by the script")
  func reasons() async throws {
    let otherKey = try #require(Self.otherKey).publicKey
    try await TestSimulator.configured { configuration, fixture in
      configuration.keys = [
        fixture.registeredKey(),
        ProviderKey(
          keyID: "TOPIC67890", teamID: RequestFixture.teamID, publicKey: otherKey, topics: ["x"]),
        ProviderKey(
          keyID: "ENVIRONMEN", teamID: RequestFixture.teamID, publicKey: otherKey,
          environment: .production),
        ProviderKey(keyID: "SECOND7890", teamID: RequestFixture.teamID, publicKey: otherKey),
      ]
    }.run { test in
      for reason in APNsReason.allCases {
        var requests = try requests(for: reason, test)
        if requests == nil {
          test.simulator.script(.reject(reason).times(1), for: RequestFixture.deviceToken)
          requests = [try test.request()]
        }
        let sender = try test.sender()
        for request in try #require(requests).dropLast() {
          #expect(try await sender.send(request).status == 200, "before \(reason.rawValue)")
        }
        let response = try await sender.send(try #require(requests?.last))
        #expect(response.status == reason.status, "\(reason.rawValue)")
        let body = try JSONValue(parsing: Data(response.body))
        #expect(body["reason"]?.string == reason.rawValue)
        #expect(body["timestamp"]?.int == nil || reason.status == 410)
        #expect(UUID(uuidString: response.headers["apns-id"] ?? "") != nil)

        let last = try #require(test.simulator.received.last)
        #expect(last.reason == reason.rawValue)
        #expect(last.status == reason.status)
        #expect(last.note?.isEmpty == false)
        sender.close()
      }
    }
  }
}
