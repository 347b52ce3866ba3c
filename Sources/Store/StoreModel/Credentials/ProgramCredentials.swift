import CloudKitModel

/// API tokens and server-to-server keys, revoked ones too.
public struct ProgramCredentials: Sendable, Hashable {
  public var apiTokens: [APIToken]
  public var serverKeys: [ServerKey]

  public init(apiTokens: [APIToken] = [], serverKeys: [ServerKey] = []) {
    self.apiTokens = apiTokens
    self.serverKeys = serverKeys
  }
}
