import CloudKitModel

/// The signatures of server-to-server keys that were used up.
public protocol SignatureStore: Sendable {
  /// Remembers a signature of a key until `expires`, so that it is taken once, also across
  /// restarts and by several servers over one store; false when it was taken before.
  func takeSignature(
    _ signature: [UInt8], ofKey keyID: String, until expires: Timestamp
  ) async throws -> Bool
}
