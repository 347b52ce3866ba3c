import CloudKitModel

/// A server-to-server key. A program signs its requests with the private key, and needs no sign-in.
/// The store has only the public key.
public struct ServerKey: Sendable, Hashable {
  /// The key's ID: 64 hexadecimal digits. Each signed request contains the ID.
  public var keyID: String
  /// A name for people.
  public var name: String
  /// The container for whose requests the key is valid.
  public var container: String
  /// The environment of the container.
  public var environment: ContainerEnvironment
  /// The public key as PEM text.
  public var publicKey: String
  /// The user record name of the key's user, who owns the records and subscriptions that the
  /// program saves: `_` and 32 hexadecimal digits.
  public var userRecordName: String
  /// The time of the key's registration.
  public var created: Timestamp
  /// The time at which the key was revoked; nil for a valid key.
  public var revoked: Timestamp?

  /// Creates a key. The text of the public key is not checked.
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
