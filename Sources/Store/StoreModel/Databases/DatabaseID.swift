/// The number of a CloudKit database in the store. It is the first column in the primary keys of
/// the large tables, so that a distributed store can divide these tables by database.
///
/// Numbers rise from 1 in the order in which databases are created. A `DatabaseAddress` is the name
/// that clients use.
public struct DatabaseID: Sendable, Hashable, Comparable {
  /// The number.
  public var rawValue: Int64
  /// The number that stands for a database that does not exist yet. Reads find it empty; see
  /// `DatabaseStore.vacancy(at:)`. No database ever has this number.
  public static let vacant = DatabaseID(rawValue: 0)

  /// Creates an ID from its number. There need not be a database with this number.
  public init(rawValue: Int64) { self.rawValue = rawValue }

  public static func < (left: DatabaseID, right: DatabaseID) -> Bool {
    left.rawValue < right.rawValue
  }
}
