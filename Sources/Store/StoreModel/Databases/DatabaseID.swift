/// The number under which the store keeps one CloudKit database. Every table that grows begins its
/// primary key with it, so that the tables can be distributed by it.
public struct DatabaseID: Sendable, Hashable, Comparable {
  public var rawValue: Int64
  public init(rawValue: Int64) { self.rawValue = rawValue }

  public static func < (left: DatabaseID, right: DatabaseID) -> Bool {
    left.rawValue < right.rawValue
  }
}
