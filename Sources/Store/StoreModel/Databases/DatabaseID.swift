/// The number under which the store keeps one CloudKit database. Every table that grows begins its
/// primary key with it, so that the tables can be distributed by it.
///
/// Numbers rise from 1 in the order in which databases are created. A ``DatabaseAddress`` is the
/// name that clients use.
public struct DatabaseID: Sendable, Hashable, Comparable {
  /// The number.
  public var rawValue: Int64
  /// Creates an ID from its number; no database need have it.
  public init(rawValue: Int64) { self.rawValue = rawValue }

  public static func < (left: DatabaseID, right: DatabaseID) -> Bool {
    left.rawValue < right.rawValue
  }
}
