import CloudKitModel

/// A server-to-server key: a program that has its private half signs its requests instead of
/// signing in.
public struct ServerKey: Sendable, Hashable {
  /// 64 hexadecimal digits.
  public var keyID: String
  /// For people.
  public var name: String
  public var container: String
  public var environment: ContainerEnvironment
  /// The public half as PEM text.
  public var publicKey: String
  /// `_` and 32 hexadecimal digits: whom the records and subscriptions of the key belong to.
  public var userRecordName: String
  public var created: Timestamp
  /// Since when the key is refused; nil when it is not.
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
