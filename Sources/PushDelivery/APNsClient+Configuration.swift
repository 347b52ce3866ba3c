import Cryptography
import HTTP2Transport

extension APNsClient {
  /// Where a client sends, and in whose name.
  public struct Configuration: Sendable {
    /// Such as `api.push.apple.com`.
    public var host: String
    public var port: Int
    /// Whose certificates to accept.
    public var trust: TLSTrust
    /// The team's key, from its `.p8` file.
    public var key: ES256PrivateKey
    /// Ten characters.
    public var keyID: String
    /// Ten characters.
    public var teamID: String
    /// Pushes that may wait for a connection or a free stream; one more is answered as not sent.
    public var capacity = 10_000

    public init(
      host: String, port: Int = 443, trust: TLSTrust = .system, key: ES256PrivateKey,
      keyID: String, teamID: String
    ) {
      self.host = host
      self.port = port
      self.trust = trust
      self.key = key
      self.keyID = keyID
      self.teamID = teamID
    }
  }
}
