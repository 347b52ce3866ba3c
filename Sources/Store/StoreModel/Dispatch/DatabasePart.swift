/// A part of a database's subscribers: the users who have subscriptions in the database. One server
/// at a time dispatches the notifications of a part.
///
/// A database is usually one part. If it has too many subscriptions for the memory of one server,
/// an administrator can divide it (`ClusterService.partition(_:into:)`). Each part has a lease of
/// its own (`ClusterService`). The server with this lease matches all changes of the database,
/// but only against the subscriptions of the part. A subscriber is in exactly one part, so the
/// subscriber's notifications have the order of the changes.
public struct DatabasePart: Sendable, Hashable {
  /// The permitted numbers of parts of a database.
  public static let counts = 1...64

  /// The database.
  public var database: DatabaseID
  /// The part's number, from 0.
  public var number: Int
  /// The number of parts of the database.
  public var count: Int

  /// Names a part. `number` must be below `count`.
  public init(database: DatabaseID, number: Int, count: Int) {
    self.database = database
    self.number = number
    self.count = count
  }

  /// Returns the part that is the whole database.
  public static func whole(_ database: DatabaseID) -> DatabasePart {
    DatabasePart(database: database, number: 0, count: 1)
  }

  /// Whether the part is the whole database.
  public var isWhole: Bool { count == 1 }
}

/// The division of a database into parts, with the next division if one is pending.
public struct Partition: Sendable, Hashable {
  /// The present number of parts, 1 for a database that is not divided.
  public var parts: Int
  /// The number of parts of the pending division. It happens when the present parts have
  /// dispatched all changes from before the request.
  public var nextParts: Int?

  /// Creates a division; by default no other division is pending.
  public init(parts: Int, nextParts: Int? = nil) {
    self.parts = parts
    self.nextParts = nextParts
  }
}

/// The lease of a part of a divided database.
public struct PartLease: Sendable, Hashable {
  /// The part.
  public var part: DatabasePart
  /// The server that has the lease; nil if no registered server has it.
  public var holder: ServerID?
  /// The holder in the lease's row; 0 for none. If ``holder`` is nil, this server is no longer
  /// registered.
  package var formerHolder: Int64

  /// Creates a lease; a holder of nil means that the part is free.
  public init(part: DatabasePart, holder: ServerID?, formerHolder: Int64 = 0) {
    self.part = part
    self.holder = holder
    self.formerHolder = formerHolder
  }

  /// The argument of `ClusterService.lease(_:to:)`. Use it only if ``holder`` is nil.
  public var free: FreePart { FreePart(part: part, formerHolder: formerHolder) }
}

/// A database, or a part of a database, whose lease no registered server has.
public struct FreePart: Sendable, Hashable {
  /// The part.
  public var part: DatabasePart
  /// The unregistered holder in the lease's row; 0 for none. `ClusterService.lease(_:to:)`
  /// succeeds only if the row still has it.
  package var formerHolder: Int64

  package init(part: DatabasePart, formerHolder: Int64) {
    self.part = part
    self.formerHolder = formerHolder
  }
}
