/// A part of a database's subscribers, whose notifications one server dispatches.
///
/// A database is one part. One with more subscriptions than a server should hold can be dispatched in
/// several (``PartitionStore/partition(_:into:)``): each part has a lease of its own, goes through all
/// changes of the database, and notifies its subscribers. Each subscriber is in one part, so that
/// notifications come to everybody in the order of the changes.
public struct DatabasePart: Sendable, Hashable {
  /// Into so many parts a database can be divided.
  public static let counts = 1...64

  public var database: DatabaseID
  /// Which of the parts it is, from 0.
  public var number: Int
  /// How many there are.
  public var count: Int

  public init(database: DatabaseID, number: Int, count: Int) {
    self.database = database
    self.number = number
    self.count = count
  }

  /// All of a database.
  public static func whole(_ database: DatabaseID) -> DatabasePart {
    DatabasePart(database: database, number: 0, count: 1)
  }

  public var isWhole: Bool { count == 1 }
}

/// Into how many parts a database is divided.
public struct Partition: Sendable, Hashable {
  public var parts: Int
  /// Into how many it will be, as soon as the changes that were there when this was asked for are
  /// dispatched; nil when nothing else is to come.
  public var nextParts: Int?

  public init(parts: Int, nextParts: Int? = nil) {
    self.parts = parts
    self.nextParts = nextParts
  }
}

/// Who dispatches a part of a database that is divided.
public struct PartLease: Sendable, Hashable {
  public var part: DatabasePart
  /// Nil when nobody does, or who did is gone.
  public var holder: ServerID?
  /// Who did, and is gone; 0 for nobody.
  package var formerHolder: Int64

  public init(part: DatabasePart, holder: ServerID?, formerHolder: Int64 = 0) {
    self.part = part
    self.holder = holder
    self.formerHolder = formerHolder
  }

  /// What is to be taken where nobody dispatches the part.
  public var free: FreePart { FreePart(part: part, formerHolder: formerHolder) }
}

/// A database, or a part of one, whose changes nobody dispatches.
public struct FreePart: Sendable, Hashable {
  public var part: DatabasePart
  /// Who did, and is gone; 0 for nobody.
  package var formerHolder: Int64

  package init(part: DatabasePart, formerHolder: Int64) {
    self.part = part
    self.formerHolder = formerHolder
  }
}
