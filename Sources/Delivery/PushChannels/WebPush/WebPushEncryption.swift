import CloudKitModel
import Cryptography

/// The encryption of messages for browsers (RFC 8291). A body consists of one record in the coding
/// `aes128gcm` (RFC 8188).
public enum WebPushEncryption {
  /// The record size `rs` in bytes. It must not be less than the size of the only record.
  private static let recordSize: UInt32 = 4096
  /// The byte that follows the text of the last record (RFC 8188, section 2).
  private static let lastRecordDelimiter: UInt8 = 2

  /// Returns the body of a message, encrypted with a new key pair and a new salt.
  ///
  /// - Parameter plaintext: The message, at most `ServiceLimits.webPushPayloadSize` bytes (3,993).
  ///   A longer message ends the process.
  /// - Throws: `CryptographyError` if the cryptographic library fails.
  public static func body(
    for plaintext: [UInt8], to keys: WebPushKeys
  ) throws(CryptographyError) -> [UInt8] {
    try body(
      for: plaintext, to: keys, from: try ECDHKeyPair(), salt: SecureRandom.bytes(count: 16))
  }

  /// Returns the body of a message, encrypted with a given key pair and salt. Never use the same
  /// key pair and salt for two messages.
  ///
  /// The body begins with the salt (16 bytes), the record size (4 bytes) and the length of the
  /// public point (1 byte). The sender's public point (65 bytes) and the encrypted record follow.
  static func body(
    for plaintext: [UInt8], to keys: WebPushKeys, from sender: ECDHKeyPair, salt: [UInt8]
  ) throws(CryptographyError) -> [UInt8] {
    precondition(
      plaintext.count <= ServiceLimits.webPushPayloadSize,
      "a message has \(plaintext.count) bytes; payloads are pruned to fit")
    let secret = try sender.sharedSecret(with: keys.publicPoint)
    // RFC 8291, section 3.4.
    let material = HKDFSHA256.expand(
      HKDFSHA256.extract(salt: keys.authentication, secret: secret),
      info: "WebPush: info\0".utf8 + keys.publicPoint + sender.publicPoint, count: 32)
    // RFC 8188, sections 2.2 and 2.3.
    let key = HKDFSHA256.extract(salt: salt, secret: material)
    let contentKey = HKDFSHA256.expand(
      key, info: "Content-Encoding: aes128gcm\0".utf8, count: 16)
    let nonce = HKDFSHA256.expand(key, info: "Content-Encoding: nonce\0".utf8, count: 12)
    let sealed = try AES128GCM(key: contentKey).seal(
      plaintext + [lastRecordDelimiter], nonce: nonce)
    let size = withUnsafeBytes(of: recordSize.bigEndian) { Array($0) }
    return salt + size + [UInt8(sender.publicPoint.count)] + sender.publicPoint + sealed
  }
}
