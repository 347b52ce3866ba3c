import APNsSimulation
import CloudKitModel
import Cryptography
import PropertyTesting
import Testing

@testable import PushChannels

struct PushAcceptanceTests {
  private let now = Timestamp(milliseconds: 1_767_225_600_000)

  private func authorization() throws -> String {
    let header = Base64URL.encode(#"{"alg":"ES256","kid":"KEY4567890"}"#.utf8)
    let claims = Base64URL.encode(
      #"{"iss":"TEAM567890","iat":\#(now.milliseconds / 1000)}"#.utf8)
    let signature = try ES256PrivateKey().signature(for: "\(header).\(claims)".utf8)
    return "bearer \(header).\(claims).\(Base64URL.encode(signature.raw))"
  }

  @Test("whatever the notification, its push is accepted")
  func accepted() throws {
    let authorization = try authorization()
    let validator = APNsRequestValidator()
    var session = ProviderTokenSession()
    for seed in Seeds.some(500) {
      var random = RandomNotification(seed: seed)
      let notification = random.next()
      let push = Push(
        notification, payload: PushPayload(notification, badge: 3, reader: .apns),
        deviceToken: String(repeating: "AB", count: 32), topic: "com.example.app", issued: now)
      let request = SimulatedRequest(
        method: "POST", path: push.path,
        headers: push.headers + [(name: "authorization", value: authorization)],
        body: push.payload.bytes)
      do {
        try validator.validate(request, session: &session, now: now)
      } catch {
        Issue.record("seed \(seed): \(error)\n\(push.payload.text)")
      }
    }
  }

  @Test("every reason that APNs can give has a rule of its own")
  func reasons() {
    for reason in APNsReason.allCases {
      let rule = PushAnswerRules.apns.rule(reason.status, reason.rawValue)
      #expect(rule.statuses == reason.status...reason.status, "\(reason.rawValue)")
      #expect(rule.code == reason.rawValue)
    }
  }
}
