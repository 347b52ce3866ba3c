import Cryptography
import PushChannels

/// A push subscription as a browser has it, with the keys to read messages.
public struct BrowserSubscription: Sendable {
  public let endpoint: String
  public let keyPair: ECDHKeyPair
  public let authentication: [UInt8]

  public init(endpoint: String) throws {
    self.endpoint = endpoint
    keyPair = try ECDHKeyPair()
    authentication = SecureRandom.bytes(count: 16)
  }

  /// `keys.p256dh` of the subscription's JSON.
  public var p256dh: String { Base64URL.encode(keyPair.publicPoint) }
  /// `keys.auth` of the subscription's JSON.
  public var auth: String { Base64URL.encode(authentication) }

  public var keys: WebPushKeys {
    get throws {
      try WebPushKeys(publicPoint: keyPair.publicPoint, authentication: authentication)
    }
  }

  public struct Unreadable: Error, CustomStringConvertible {
    public var description: String
  }

  /// The text of a message, as RFC 8291 has a browser read it: independent of the sender's code but
  /// for the primitives.
  public func plaintext(of body: [UInt8]) throws -> [UInt8] {
    guard body.count > 21 else { throw Unreadable(description: "no header") }
    let salt = Array(body[..<16])
    let recordSize = body[16..<20].reduce(0) { $0 << 8 | Int($1) }
    let end = 21 + Int(body[20])
    guard body.count > end, body[20] == 65 else { throw Unreadable(description: "no key") }
    let peer = Array(body[21..<end])
    let record = Array(body[end...])
    guard record.count <= recordSize else { throw Unreadable(description: "several records") }
    let shared = try keyPair.sharedSecret(with: peer)
    let first = HMACSHA256.code(for: shared, key: authentication)
    let material = HMACSHA256.code(
      for: Array("WebPush: info".utf8) + [0] + keyPair.publicPoint + peer + [1], key: first)
    let key = HMACSHA256.code(for: material, key: salt)
    let content = HMACSHA256.code(
      for: Array("Content-Encoding: aes128gcm".utf8) + [0, 1], key: key)
    let nonce = HMACSHA256.code(for: Array("Content-Encoding: nonce".utf8) + [0, 1], key: key)
    let padded = try AES128GCM(key: Array(content.prefix(16))).open(
      record, nonce: Array(nonce.prefix(12)))
    guard let delimiter = padded.lastIndex(where: { $0 != 0 }), padded[delimiter] == 2 else {
      throw Unreadable(description: "no delimiter")
    }
    return Array(padded[..<delimiter])
  }
}
