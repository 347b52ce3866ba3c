import CloudKitModel

/// The registration and the revocation of the credentials of programs.
public protocol CredentialStore: CredentialReading {
  /// Stores an API token. From then on, requests for the environment of the token's container need
  /// a token.
  func addAPIToken(_ token: APIToken) async throws
  /// Stores a server-to-server key.
  ///
  /// - Throws: ``StoreError/Code/exists`` if the container's environment already has the public
  ///   key, revoked or not.
  func addServerKey(_ key: ServerKey) async throws
  /// Revokes a token. Returns false if no token has this hash, or if the token is already revoked.
  func revokeAPIToken(withHash hash: [UInt8], at timestamp: Timestamp) async throws -> Bool
  /// Revokes a key, removes the webhooks of the key's user, and abandons the deliveries that wait
  /// for these webhooks.
  ///
  /// - Returns: false if no key has this ID, or if the key is already revoked. Nothing is changed
  ///   then.
  func revokeServerKey(_ keyID: String, at timestamp: Timestamp) async throws -> Bool
}
