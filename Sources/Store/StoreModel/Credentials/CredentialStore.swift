import CloudKitModel

/// The registration and the revocation of the credentials of programs.
public protocol CredentialStore: CredentialReading {
  /// Stores an API token. Requests for its container's environment need a token from then on.
  func addAPIToken(_ token: APIToken) async throws
  /// Stores a server-to-server key.
  ///
  /// - Throws: ``StoreError/Code/exists`` if the container's environment already has the public
  ///   key, revoked or not.
  func addServerKey(_ key: ServerKey) async throws
  /// Revokes a token; false if no token has this hash or it is already revoked.
  func revokeAPIToken(withHash hash: [UInt8], at timestamp: Timestamp) async throws -> Bool
  /// Revokes a key, removes the webhooks of its user and abandons their waiting deliveries. It
  /// returns false, and changes nothing, if no key has this ID or the key is already revoked.
  func revokeServerKey(_ keyID: String, at timestamp: Timestamp) async throws -> Bool
}
