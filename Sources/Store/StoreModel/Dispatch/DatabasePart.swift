/// A part of a database's subscribers, whose notifications one server dispatches.
///
/// A database is usually one part. A database with more subscriptions than a server should hold can
/// be divided (``PartitionStore/partition(_:into:)``). Each part has its own lease, goes through
/// all changes of the database, and notifies its own subscribers. Each subscriber is in one part,
/// so each gets notifications in the order of the changes.
public struct DatabasePart: Sendable, Hashable {
  /// The permitted numbers of parts of a database.
  public static let counts = 1...64

  public var database: DatabaseID
  /// The number of this part, from 0.
  public var number: Int
  /// The number of parts of the database.
  public var count: Int

  public init(database: DatabaseID, number: Int, count: Int) {
    self.database = database
    self.number = number
    self.count = count
  }

  /// The part that is the whole database.
  public static func whole(_ database: DatabaseID) -> DatabasePart {
    DatabasePart(database: database, number: 0, count: 1)
  }

  public var isWhole: Bool { count == 1 }
}

/// The number of parts of a database.
public struct Partition: Sendable, Hashable {
  public var parts: Int
  /// The future number of parts, which takes effect when the changes present at the request are
  /// dispatched; nil if no change is pending.
  public var nextParts: Int?

  public init(parts: Int, nextParts: Int? = nil) {
    self.parts = parts
    self.nextParts = nextParts
  }
}

/// The lease of a part of a divided database.
public struct PartLease: Sendable, Hashable {
  public var part: DatabasePart
  /// Nil if the part has no holder, or the holder is gone.
  public var holder: ServerID?
  /// The holder that is gone; 0 for none.
  package var formerHolder: Int64

  public init(part: DatabasePart, holder: ServerID?, formerHolder: Int64 = 0) {
    self.part = part
    self.holder = holder
    self.formerHolder = formerHolder
  }

  /// The part as one to lease, for a part without a holder.
  public var free: FreePart { FreePart(part: part, formerHolder: formerHolder) }
}

/// A database, or a part of one, without a valid lease.
public struct FreePart: Sendable, Hashable {
  public var part: DatabasePart
  /// The holder that is gone; 0 for none.
  package var formerHolder: Int64

  package init(part: DatabasePart, formerHolder: Int64) {
    self.part = part
    self.formerHolder = formerHolder
  }
}
