import Cryptography

/// The encryption keys of a browser's push subscription: `keys` of its JSON (W3C Push API).
public struct WebPushKeys: Sendable, Hashable {
  /// The public key `p256dh`: the browser's point on P-256, uncompressed, 65 bytes.
  public let publicPoint: [UInt8]
  /// The secret `auth`: 16 bytes that only the browser and the server know.
  public let authentication: [UInt8]

  /// Creates the keys.
  ///
  /// - Throws: `CryptographyError` with the code `invalidKey` if `publicPoint` is not a point on
  ///   P-256, or if `authentication` does not have 16 bytes.
  public init(publicPoint: [UInt8], authentication: [UInt8]) throws(CryptographyError) {
    do {
      _ = try ES256PublicKey(uncompressedPoint: publicPoint)
    } catch {
      throw CryptographyError(.invalidKey, "p256dh: \(error.reason)")
    }
    guard authentication.count == 16 else {
      throw CryptographyError(.invalidKey, "auth: must have 16 bytes, not \(authentication.count)")
    }
    self.publicPoint = publicPoint
    self.authentication = authentication
  }
}
