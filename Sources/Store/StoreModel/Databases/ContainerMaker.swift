import CloudKitModel

/// A user for whom the store creates a container, with the time. The store limits the containers
/// that users create.
///
/// A container exists as soon as the store has data in it: a database, a device or a permission.
public struct ContainerMaker: Sendable, Hashable {
  /// The user record name.
  public var userRecordName: String
  /// The time of the request that needs the container.
  public var timestamp: Timestamp

  /// Creates the value from a user record name and a time.
  public init(userRecordName: String, timestamp: Timestamp) {
    self.userRecordName = userRecordName
    self.timestamp = timestamp
  }
}
