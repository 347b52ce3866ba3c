import CloudKitModel

/// A user in a container: the recipient of notifications.
public struct Recipient: Sendable, Hashable {
  public var userRecordName: String
  public var container: String
  public var environment: ContainerEnvironment

  public init(userRecordName: String, container: String, environment: ContainerEnvironment) {
    self.userRecordName = userRecordName
    self.container = container
    self.environment = environment
  }
}

extension DeviceToken {
  package var recipient: Recipient {
    Recipient(userRecordName: userRecordName, container: container, environment: environment)
  }
}
