import CloudKitModel

/// The used signatures of server-to-server keys.
public protocol SignatureStore: Sendable {
  /// Remembers a signature of a key until `expires`; false if it was used before. Each signature is
  /// accepted once, also across restarts and by all servers of a store.
  func takeSignature(
    _ signature: [UInt8], ofKey keyID: String, until expires: Timestamp
  ) async throws -> Bool
}
