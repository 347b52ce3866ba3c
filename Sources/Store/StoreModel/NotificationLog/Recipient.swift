import CloudKitModel

/// A user in one environment of a container: the recipient of notifications.
public struct Recipient: Sendable, Hashable {
  /// The user's record name.
  public var userRecordName: String
  /// The container's identifier.
  public var container: String
  /// The environment of the container.
  public var environment: ContainerEnvironment

  /// Names a recipient.
  public init(userRecordName: String, container: String, environment: ContainerEnvironment) {
    self.userRecordName = userRecordName
    self.container = container
    self.environment = environment
  }
}

extension DeviceToken {
  /// The owner of the device, in the container of the registration.
  package var recipient: Recipient {
    Recipient(userRecordName: userRecordName, container: container, environment: environment)
  }
}
