import Cryptography
import Foundation

/// The secret by which a webhook's receiver verifies the server.
public struct WebhookSecret: Sendable, Hashable {
  /// 32 bytes.
  public let bytes: [UInt8]

  public init(bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// Makes a new secret.
  public static func random() -> WebhookSecret {
    WebhookSecret(bytes: SecureRandom.bytes(count: 32))
  }

  /// The notation of Standard Webhooks: `whsec_` and base64.
  public var text: String { "whsec_" + Data(bytes).base64EncodedString() }

  /// The value of `webhook-signature`: HMAC-SHA256 of ID, time and body with dots between.
  ///
  /// - Parameters:
  ///   - id: the value of `webhook-id`.
  ///   - time: the value of `webhook-timestamp`, seconds since 1970.
  func signature(ofMessage id: String, sentAt time: String, body: [UInt8]) -> String {
    let code = HMACSHA256.code(for: Array("\(id).\(time).".utf8) + body, key: bytes)
    return "v1," + Data(code).base64EncodedString()
  }
}
