import CloudKitModel

/// Registers and revokes the credentials of programs.
public protocol CredentialStore: CredentialReading {
  func addAPIToken(_ token: APIToken) async throws
  /// Throws ``StoreError/Code/exists`` if the container's environment already has the public key,
  /// revoked or not.
  func addServerKey(_ key: ServerKey) async throws
  /// Revokes a token; false if no token has this hash or it is already revoked.
  func revokeAPIToken(withHash hash: [UInt8], at timestamp: Timestamp) async throws -> Bool
  /// Revokes a key; false if no key has this ID or it is already revoked.
  func revokeServerKey(_ keyID: String, at timestamp: Timestamp) async throws -> Bool
}
