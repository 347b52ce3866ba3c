import CloudKitModel

/// API tokens and server-to-server keys, revoked ones too.
public struct ProgramCredentials: Sendable, Hashable {
  /// The API tokens, which web apps send.
  public var apiTokens: [APIToken]
  /// The public keys with which programs sign their requests.
  public var serverKeys: [ServerKey]

  /// Creates a list of credentials.
  public init(apiTokens: [APIToken] = [], serverKeys: [ServerKey] = []) {
    self.apiTokens = apiTokens
    self.serverKeys = serverKeys
  }
}
