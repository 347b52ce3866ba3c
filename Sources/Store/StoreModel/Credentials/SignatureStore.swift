import CloudKitModel

/// The used signatures of server-to-server keys. With them, the server refuses a recorded request
/// that is sent a second time.
public protocol SignatureStore: Sendable {
  /// Marks a signature of a key as used until `expires`; false if it was used before. Each
  /// signature is accepted once, also across restarts and by all servers of a store. If two
  /// requests come with one signature at the same moment, one of them gets true.
  func takeSignature(
    _ signature: [UInt8], ofKey keyID: String, until expires: Timestamp
  ) async throws -> Bool
}
