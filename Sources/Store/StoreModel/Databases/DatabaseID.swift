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

extension DatabaseAddress {
  /// The zone ID as the store's rows have it: with ``ZoneID/currentOwnerName`` instead of the
  /// owner's user record name. Clients may send either.
  package func canonical(_ zoneID: ZoneID) -> ZoneID {
    guard let owner, zoneID.ownerName == owner else { return zoneID }
    return ZoneID(zoneName: zoneID.zoneName)
  }

  /// The failure for a zone that the database does not have. A zone of another user can never be
  /// in a private database, so the request then belongs to another database.
  ///
  /// - Parameter advice: what the caller can do, for the text.
  package func missing(_ zoneID: ZoneID, _ advice: String? = nil) -> ItemFailure {
    guard scope != .private || canonical(zoneID).ownerName == ZoneID.currentOwnerName else {
      return ItemFailure(
        .badDatabase, field: "zoneID",
        "zone '\(zoneID)' is another user's; the zones of others are in the shared database")
    }
    return .noZone(zoneID, advice)
  }
}

extension ItemFailure {
  package static func noZone(_ zoneID: ZoneID, _ advice: String? = nil) -> ItemFailure {
    let suffix = advice.map { "; \($0)" } ?? ""
    return ItemFailure(.zoneNotFound, field: "zoneID", "there is no zone '\(zoneID)'\(suffix)")
  }
}
