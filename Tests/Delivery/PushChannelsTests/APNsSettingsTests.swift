import CloudKitModel
import Cryptography
import HTTP2Transport
import PushChannels
import StoreModel
import Testing

struct APNsSettingsTests {
  private func configuration(
    _ environment: APNsEnvironment, _ change: (inout APNsSettings) -> Void = { _ in }
  ) throws -> APNsClient.Configuration {
    var apns = APNsSettings(
      topics: ["com.example.app"], credential: .key(file: "k", keyID: "KEY1234567", teamID: "TEAM"))
    change(&apns)
    let tokens = ProviderTokenSource(key: try ES256PrivateKey(), keyID: "KEY1234567", teamID: "T")
    return try apns.client(to: environment, .tokens(tokens))
  }

  @Test("each environment has Apple's host for it, with the system's trust and no proxy")
  func hosts() throws {
    let production = try configuration(.production)
    #expect(production.host == "api.push.apple.com")
    #expect(production.port == 443)
    #expect(production.trust == .system)
    #expect(production.proxy == nil)
    #expect(production.maximumConnections == 4)
    #expect(try configuration(.development).host == "api.sandbox.push.apple.com")
  }

  @Test("what the configuration names takes their place")
  func named() throws {
    let named = try configuration(.production) {
      $0.host = "localhost"
      $0.port = 2197
      $0.authorityFile = "/ca.pem"
      $0.maximumConnections = 9
      $0.proxy = "http://anna:secret@proxy.example.com:3128"
    }
    #expect(named.host == "localhost")
    #expect(named.port == 2197)
    #expect(named.trust == .certificateFile("/ca.pem"))
    #expect(named.maximumConnections == 9)
    #expect(
      named.proxy
        == HTTPProxy(
          host: "proxy.example.com", port: 3128,
          credentials: .init(user: "anna", password: "secret")))
  }
}
