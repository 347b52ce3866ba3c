import CloudKitModel

/// A part of a database's change feed.
public struct ZoneChangesPage: Sendable {
  public var changes: [ZoneChange]
  /// Stands for what was read up to here.
  public var token: String
  /// Whether there is more to read now.
  public var hasMore: Bool

  public init(changes: [ZoneChange], token: String, hasMore: Bool) {
    self.changes = changes
    self.token = token
    self.hasMore = hasMore
  }
}
