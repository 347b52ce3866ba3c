import CloudKitModel

/// The number of a CloudKit database in the store. It is the first column in the primary keys of
/// the large tables, so that a distributed store can divide these tables by database.
///
/// Numbers rise from 1 in the order in which databases are created. A `DatabaseAddress` is the name
/// that clients use.
public struct DatabaseID: Sendable, Hashable, Comparable {
  /// The number.
  public var rawValue: Int64
  /// The number of a database that does not exist yet: reads find it empty
  /// (`DatabaseService.vacancy(at:)`).
  public static let vacant = DatabaseID(rawValue: 0)

  /// Creates an ID from its number. There need not be a database with this number.
  public init(rawValue: Int64) { self.rawValue = rawValue }

  public static func < (left: DatabaseID, right: DatabaseID) -> Bool {
    left.rawValue < right.rawValue
  }
}

/// A user for whom the store creates a container, which the store limits. A container exists as
/// soon as the store has data in it: a database, a device or a permission.
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

/// One environment of a container. Each schema, credential and database belongs to one such pair.
public struct ContainerPlace: Sendable, Hashable {
  /// The container's identifier, such as `iCloud.com.example.app`.
  public var container: String
  /// The environment: development or production.
  public var environment: ContainerEnvironment

  /// Names an environment. The container's identifier is not checked.
  public init(container: String, environment: ContainerEnvironment) {
    self.container = container
    self.environment = environment
  }
}
