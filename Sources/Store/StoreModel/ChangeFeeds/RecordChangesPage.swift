import CloudKitModel

/// A page of a zone's change feed.
public struct RecordChangesPage: Sendable {
  /// The changed and deleted records, in the order of the query.
  public var changes: [RecordChange]
  /// The change token of the position after this page.
  public var token: String
  /// Whether more changes can be read now.
  public var hasMore: Bool
  /// The approximate size of the changes in bytes.
  public var size: Int
  /// The client change token that the reading device left with its last changes of the zone; nil if
  /// there is none.
  public var clientChangeToken: [UInt8]?

  /// Creates a page. A page that is the last has `hasMore` false and still has a token, for the
  /// next fetch.
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
