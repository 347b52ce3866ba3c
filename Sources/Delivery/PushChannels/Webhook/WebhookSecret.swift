import Cryptography
import Foundation

/// The secret that the server and the receiver of a webhook share. With it, the receiver verifies
/// that a message is from the server.
public struct WebhookSecret: Sendable, Hashable {
  /// The bytes of the secret. A secret from ``random()`` has 32 bytes.
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

  /// Returns the value of the header field `webhook-signature`: `v1,` and a code in base64. The
  /// code is the HMAC-SHA256 of the ID, the time and the body, joined by dots.
  ///
  /// - Parameters:
  ///   - id: The value of `webhook-id`.
  ///   - time: The value of `webhook-timestamp`, whole seconds since 1970.
  func signature(ofMessage id: String, sentAt time: String, body: [UInt8]) -> String {
    let code = HMACSHA256.code(for: Array("\(id).\(time).".utf8) + body, key: bytes)
    return "v1," + Data(code).base64EncodedString()
  }
}
