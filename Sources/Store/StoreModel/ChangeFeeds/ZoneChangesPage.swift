import CloudKitModel

/// A page of a database's change feed.
public struct ZoneChangesPage: Sendable {
  /// The changed and deleted zones.
  public var changes: [ZoneChange]
  /// The change token of the position after this page.
  public var token: String
  /// Whether the feed already has changes after this page.
  public var hasMore: Bool

  /// Creates a page with the token of its end.
  public init(changes: [ZoneChange], token: String, hasMore: Bool) {
    self.changes = changes
    self.token = token
    self.hasMore = hasMore
  }
}
