import CloudKitModel
import Cryptography

/// A key that a team registered with Apple. The team's server signs its provider tokens with the
/// private half.
public struct ProviderKey: Sendable {
  /// The key's ID, which is the `kid` of its tokens.
  public var keyID: String
  /// The team's ID, which is the `iss` of its tokens.
  public var teamID: String
  /// The public half, a point on the curve P-256.
  public var publicKey: ES256PublicKey
  /// The topics to which the key may send; nil for all topics of the team.
  public var topics: Set<String>?
  /// The only APNs environment in which the key is valid; nil for both.
  public var environment: ContainerEnvironment?

  /// Creates a key, by default one for all topics and both environments.
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
