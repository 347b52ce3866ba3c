import CloudKitModel
import Cryptography
import Foundation
import JSONCoding

@testable import APNsSimulation

/// A team with its key, and requests that APNs would accept from it.
struct RequestFixture: Sendable {
  static let keyID = "KEY4567890"
  static let teamID = "TEAM567890"
  static let topic = "com.example.app"
  static let deviceToken = String(repeating: "0a", count: 32)

  let privateKey: ES256PrivateKey

  init() throws {
    privateKey = try ES256PrivateKey()
  }

  func registeredKey(
    topics: Set<String>? = nil, environment: ContainerEnvironment? = nil
  ) -> ProviderKey {
    ProviderKey(
      keyID: Self.keyID, teamID: Self.teamID, publicKey: privateKey.publicKey, topics: topics,
      environment: environment)
  }

  /// A signed token; the arguments allow for wrong ones.
  func providerToken(
    issued: Timestamp, algorithm: JSONValue = "ES256", keyID: JSONValue? = nil,
    teamID: JSONValue? = nil, issuedClaim: JSONValue? = nil, key: ES256PrivateKey? = nil
  ) throws -> String {
    let header: JSONValue = ["alg": algorithm, "kid": keyID ?? .string(Self.keyID)]
    let claims: JSONValue = [
      "iss": teamID ?? .string(Self.teamID),
      "iat": issuedClaim ?? .int(issued.milliseconds / 1000),
    ]
    let signed =
      Base64URL.encode(header.text.utf8) + "." + Base64URL.encode(claims.text.utf8)
    let signature = try (key ?? privateKey).signature(for: signed.utf8)
    return signed + "." + Base64URL.encode(signature.raw)
  }

  func request(
    now: Timestamp, providerToken: String? = nil,
    payload: String = #"{"aps":{"alert":"Bula"}}"#,
    change: (inout SimulatedRequest) -> Void = { _ in }
  ) throws -> SimulatedRequest {
    let token = try providerToken ?? self.providerToken(issued: now)
    var request = SimulatedRequest(
      method: "POST", path: "/3/device/" + Self.deviceToken,
      headers: [
        (name: "authorization", value: "bearer " + token),
        (name: "apns-topic", value: Self.topic),
        (name: "apns-push-type", value: "alert"),
        (name: "apns-priority", value: "10"),
        (name: "apns-expiration", value: "0"),
        (name: "apns-id", value: "0b6c2f0e-51d4-4b61-9c1e-3d1f2a5b7c90"),
      ],
      body: Array(payload.utf8))
    change(&request)
    return request
  }
}

extension SimulatedRequest {
  /// Sets the header's value, or removes the header.
  mutating func set(_ name: String, _ value: String?) {
    headers.removeAll { $0.name == name }
    if let value { headers.append((name: name, value: value)) }
  }
}
