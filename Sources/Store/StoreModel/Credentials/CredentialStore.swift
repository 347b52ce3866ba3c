import CloudKitModel

/// Registers and revokes what programs prove themselves with.
public protocol CredentialStore: CredentialReading {
  func addAPIToken(_ token: APIToken) async throws
  /// Throws ``StoreError/Code/exists`` when the container's environment has the same public key
  /// already, revoked or not.
  func addServerKey(_ key: ServerKey) async throws
  /// Refuses a token from now on; false when there is none with this hash or it is revoked already.
  func revokeAPIToken(withHash hash: [UInt8], at timestamp: Timestamp) async throws -> Bool
  /// Refuses a key from now on; false when there is none with this ID or it is revoked already.
  func revokeServerKey(_ keyID: String, at timestamp: Timestamp) async throws -> Bool
}
