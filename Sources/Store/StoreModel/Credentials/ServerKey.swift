import CloudKitModel

/// A server-to-server key. A program that has the private half signs its requests instead of
/// signing in. The store keeps the public half alone.
public struct ServerKey: Sendable, Hashable {
  /// The key's ID, which each signed request names: 64 hexadecimal digits.
  public var keyID: String
  /// A name for people.
  public var name: String
  /// The container that the key opens.
  public var container: String
  /// The environment of the container.
  public var environment: ContainerEnvironment
  /// The public half as PEM text.
  public var publicKey: String
  /// The owner of the key's records and subscriptions: `_` and 32 hexadecimal digits.
  public var userRecordName: String
  /// The time of the key's registration.
  public var created: Timestamp
  /// The time at which the key was revoked; nil for a valid key.
  public var revoked: Timestamp?

  /// Creates a key. The text of the public half is not checked.
  public init(
    keyID: String, name: String, container: String, environment: ContainerEnvironment,
    publicKey: String, userRecordName: String, created: Timestamp, revoked: Timestamp? = nil
  ) {
    self.keyID = keyID
    self.name = name
    self.container = container
    self.environment = environment
    self.publicKey = publicKey
    self.userRecordName = userRecordName
    self.created = created
    self.revoked = revoked
  }
}
