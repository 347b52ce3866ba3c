import CloudKitModel

/// A page of a zone's change feed.
public struct RecordChangesPage: Sendable {
  /// The changed and deleted records, in the order that the query asks for.
  public var changes: [RecordChange]
  /// The change token of the position after this page.
  public var token: String
  /// Whether the feed already has changes after this page.
  public var hasMore: Bool
  /// The approximate size of the changes in bytes.
  public var size: Int
  /// The token that the reading device sent with its last changes of the zone
  /// (``ClientChangeToken``); nil if there is none.
  public var clientChangeToken: [UInt8]?

  /// Creates a page. The last page has a token too, from which the client's next fetch continues.
  public init(
    changes: [RecordChange], token: String, hasMore: Bool, size: Int = 0,
    clientChangeToken: [UInt8]? = nil
  ) {
    self.changes = changes
    self.token = token
    self.hasMore = hasMore
    self.size = size
    self.clientChangeToken = clientChangeToken
  }
}
