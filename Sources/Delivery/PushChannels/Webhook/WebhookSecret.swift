import Cryptography
import Foundation

/// The secret by which a webhook's receiver verifies the server.
public struct WebhookSecret: Sendable, Hashable {
  /// The secret; 32 bytes from ``random()``.
  public let bytes: [UInt8]

  /// Creates a secret from its bytes.
  public init(bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// Returns a new secret of 32 random bytes.
  public static func random() -> WebhookSecret {
    WebhookSecret(bytes: SecureRandom.bytes(count: 32))
  }

  /// The secret in the notation of Standard Webhooks: `whsec_` and base64.
  public var text: String { "whsec_" + Data(bytes).base64EncodedString() }

  /// Returns the value of `webhook-signature`: `v1,` and the HMAC-SHA256 of ID, time and body,
  /// joined by dots.
  ///
  /// - Parameters:
  ///   - id: The value of `webhook-id`.
  ///   - time: The value of `webhook-timestamp`, seconds since 1970.
  func signature(ofMessage id: String, sentAt time: String, body: [UInt8]) -> String {
    let code = HMACSHA256.code(for: Array("\(id).\(time).".utf8) + body, key: bytes)
    return "v1," + Data(code).base64EncodedString()
  }
}
