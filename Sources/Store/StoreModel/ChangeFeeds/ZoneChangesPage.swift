import CloudKitModel

/// A page of a database's change feed.
public struct ZoneChangesPage: Sendable {
  public var changes: [ZoneChange]
  /// The position after this page.
  public var token: String
  /// Whether more changes can be read now.
  public var hasMore: Bool

  public init(changes: [ZoneChange], token: String, hasMore: Bool) {
    self.changes = changes
    self.token = token
    self.hasMore = hasMore
  }
}
