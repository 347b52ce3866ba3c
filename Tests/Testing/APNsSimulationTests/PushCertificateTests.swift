import CloudKitModel
import Cryptography
import HTTP2Transport
import Testing

@testable import APNsSimulation

struct PushCertificateTests {
  private let now = Timestamp(milliseconds: 1_767_225_600_000)
  private let fixture: RequestFixture

  init() throws {
    fixture = try RequestFixture()
  }

  /// The reason with which a request is refused after this certificate was shown; nil if it is not.
  private func reason(
    _ certificate: TLSPeerCertificate?, in environment: ContainerEnvironment = .development,
    _ change: (inout SimulatedRequest) -> Void = { _ in }
  ) throws -> APNsReason? {
    let validator = APNsRequestValidator(keys: [fixture.registeredKey()], environment: environment)
    var session = ProviderTokenSession()
    let request = try fixture.request(now: now) {
      $0.set("authorization", nil)
      change(&$0)
    }
    do {
      try validator.validate(request, session: &session, certificate: certificate, now: now)
      return nil
    } catch {
      return error.reason
    }
  }

  private func certificate(_ name: String, failure: String? = nil) -> TLSPeerCertificate {
    TLSPeerCertificate(commonName: name, failure: failure)
  }

  private var topic: String {
    get throws { try fixture.request(now: now)[header: "apns-topic"] ?? "" }
  }

  @Test("a certificate takes the place of a provider token, and of the topic if it has one")
  func good() throws {
    let topic = try topic
    #expect(try reason(nil) == .missingProviderToken)
    #expect(try reason(certificate("Apple Push Services: \(topic)")) == nil)
    #expect(try reason(certificate("anything")) == nil)
    #expect(
      try reason(certificate("Apple Push Services: \(topic)")) { $0.set("apns-topic", nil) } == nil)
    #expect(try reason(certificate("anything")) { $0.set("apns-topic", nil) } == .missingTopic)
  }

  @Test("one of another issuer, another environment or another topic is refused as APNs does")
  func bad() throws {
    let topic = try topic
    #expect(try reason(certificate("x", failure: "certificate has expired")) == .badCertificate)
    let development = certificate("Apple Development IOS Push Services: \(topic)")
    #expect(try reason(development) == nil)
    #expect(try reason(development, in: .production) == .badCertificateEnvironment)
    let production = certificate("Apple Production IOS Push Services: \(topic)")
    #expect(try reason(production) == .badCertificateEnvironment)
    #expect(try reason(production, in: .production) == nil)
    #expect(try reason(certificate("Apple Push Services: com.other")) == .topicDisallowed)
    #expect(
      try reason(certificate("Apple Push Services: \(topic)")) {
        $0.set("apns-topic", topic + ".voip")
      } == nil)
  }
}
