import CloudKitModel
import Cryptography

/// A key that a team registered with Apple to sign its provider tokens.
public struct ProviderKey: Sendable {
  /// `kid` of the token.
  public var keyID: String
  /// `iss` of the token.
  public var teamID: String
  public var publicKey: ES256PublicKey
  /// The topics that the key may send to; nil for all of the team.
  public var topics: Set<String>?
  /// The only APNs environment that the key is for; nil for both.
  public var environment: ContainerEnvironment?

  public init(
    keyID: String, teamID: String, publicKey: ES256PublicKey, topics: Set<String>? = nil,
    environment: ContainerEnvironment? = nil
  ) {
    self.keyID = keyID
    self.teamID = teamID
    self.publicKey = publicKey
    self.topics = topics
    self.environment = environment
  }
}
