import CloudKitModel

/// API tokens and server-to-server keys, those that are revoked too.
public struct ProgramCredentials: Sendable, Hashable {
  public var apiTokens: [APIToken]
  public var serverKeys: [ServerKey]

  public init(apiTokens: [APIToken] = [], serverKeys: [ServerKey] = []) {
    self.apiTokens = apiTokens
    self.serverKeys = serverKeys
  }
}

/// What programs and the sessions of web apps prove themselves with.
public protocol CredentialStore: Sendable {
  func addAPIToken(_ token: APIToken) async throws
  /// Throws ``StoreError/Code/exists`` when the container's environment has the same public key
  /// already, revoked or not.
  func addServerKey(_ key: ServerKey) async throws
  /// What was registered for a container's environment, oldest first.
  func programCredentials(
    container: String, environment: ContainerEnvironment
  ) async throws -> ProgramCredentials
  /// What was registered for any container, by container and age.
  func programCredentials() async throws -> ProgramCredentials
  /// Refuses a token from now on; false when there is none with this hash or it is revoked already.
  func revokeAPIToken(withHash hash: [UInt8], at timestamp: Timestamp) async throws -> Bool
  /// Refuses a key from now on; false when there is none with this ID or it is revoked already.
  func revokeServerKey(_ keyID: String, at timestamp: Timestamp) async throws -> Bool
  /// Notes what a request with a session's token leads to, in one write.
  ///
  /// - Parameters:
  ///   - successor: a token that is added to the session.
  ///   - olderExpire: not nil when this is the first request with the token, which is then marked
  ///     as used: when the session's older tokens expire, unless they do so before.
  /// - Returns: false, and nothing is done, when there is no such token of a session any more.
  func rotateWebAuthToken(
    withHash hash: [UInt8], successor: WebAuthToken?, olderExpire: Timestamp?
  ) async throws -> Bool
  /// Takes away a user's web auth tokens: those of sessions in web apps, or all of them and those of
  /// the web courier's readers.
  ///
  /// - Returns: how many sessions it were that had not expired; a native client's token counts as
  ///   one.
  func endSessions(
    of userRecordName: String, everywhere: Bool, at timestamp: Timestamp
  ) async throws -> Int
  /// Remembers a signature of a key until `expires`, so that it is taken once, also across
  /// restarts and by several servers over one store; false when it was taken before.
  func takeSignature(
    _ signature: [UInt8], ofKey keyID: String, until expires: Timestamp
  ) async throws -> Bool
}
