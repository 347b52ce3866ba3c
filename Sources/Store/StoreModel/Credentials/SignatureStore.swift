import CloudKitModel

/// The used signatures of server-to-server keys. An attacker may record a request and send it
/// again. The server refuses the second request, because its signature is already used.
public protocol SignatureStore: Sendable {
  /// Stores a signature of a key as used. Returns false if the signature was used before.
  ///
  /// All servers of a store together get true once for each signature, also after a restart. This
  /// holds for two requests at the same moment, too.
  ///
  /// - Parameter expires: the time from which the server refuses the signature because of its age.
  ///   The store may delete the signature after this time.
  func takeSignature(
    _ signature: [UInt8], ofKey keyID: String, until expires: Timestamp
  ) async throws -> Bool
}
