/// A part of a database's subscribers, whose notifications one server dispatches.
///
/// A database is usually one part. A database with more subscriptions than a server should hold can
/// be divided (``PartitionStore/partition(_:into:)``). Each part has its own lease, goes through
/// all changes of the database, and notifies its own subscribers. Each subscriber is in one part,
/// so each gets notifications in the order of the changes.
public struct DatabasePart: Sendable, Hashable {
  /// The permitted numbers of parts of a database.
  public static let counts = 1...64

  /// The database.
  public var database: DatabaseID
  /// The number of this part, from 0.
  public var number: Int
  /// The number of parts of the database.
  public var count: Int

  /// Names a part. The caller keeps `number` below `count`.
  public init(database: DatabaseID, number: Int, count: Int) {
    self.database = database
    self.number = number
    self.count = count
  }

  /// The part that is the whole database.
  public static func whole(_ database: DatabaseID) -> DatabasePart {
    DatabasePart(database: database, number: 0, count: 1)
  }

  /// Whether the part is the whole database.
  public var isWhole: Bool { count == 1 }
}

/// The number of parts of a database, with a pending change.
public struct Partition: Sendable, Hashable {
  /// The present number of parts, 1 for a database that is not divided.
  public var parts: Int
  /// The future number of parts, which takes effect when the changes present at the request are
  /// dispatched; nil if no change is pending.
  public var nextParts: Int?

  /// Creates a partition without a pending change, unless `nextParts` is set.
  public init(parts: Int, nextParts: Int? = nil) {
    self.parts = parts
    self.nextParts = nextParts
  }
}

/// The lease of a part of a divided database.
public struct PartLease: Sendable, Hashable {
  /// The part.
  public var part: DatabasePart
  /// The server that holds the lease; nil if the part has no holder, or the holder is no longer
  /// registered.
  public var holder: ServerID?
  /// The holder that is no longer registered; 0 for none.
  package var formerHolder: Int64

  /// Creates the lease of a part; a holder of nil means that the part is free.
  public init(part: DatabasePart, holder: ServerID?, formerHolder: Int64 = 0) {
    self.part = part
    self.holder = holder
    self.formerHolder = formerHolder
  }

  /// The part as an argument of ``DispatchLeases/lease(_:to:)``. It has a meaning for a part
  /// without a holder.
  public var free: FreePart { FreePart(part: part, formerHolder: formerHolder) }
}

/// A database, or a part of one, without a valid lease.
public struct FreePart: Sendable, Hashable {
  /// The part.
  public var part: DatabasePart
  /// The holder that is no longer registered; 0 for none. A lease succeeds only if the row still
  /// has this holder.
  package var formerHolder: Int64

  /// Creates a part that another server may have leased meanwhile.
  package init(part: DatabasePart, formerHolder: Int64) {
    self.part = part
    self.formerHolder = formerHolder
  }
}
