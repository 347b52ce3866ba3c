import CloudKitModel

/// A server-to-server key. A program that has the private half signs its requests instead of
/// signing in.
public struct ServerKey: Sendable, Hashable {
  /// 64 hexadecimal digits.
  public var keyID: String
  /// A name for people.
  public var name: String
  public var container: String
  public var environment: ContainerEnvironment
  /// The public half as PEM text.
  public var publicKey: String
  /// The owner of the key's records and subscriptions: `_` and 32 hexadecimal digits.
  public var userRecordName: String
  public var created: Timestamp
  /// When the key was revoked; nil for a valid key.
  public var revoked: Timestamp?

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
