import CloudKitModel

/// A part of a zone's change feed.
public struct RecordChangesPage: Sendable {
  public var changes: [RecordChange]
  /// Stands for what was read up to here.
  public var token: String
  /// Whether there is more to read now.
  public var hasMore: Bool
  /// Bytes that the changes take, roughly.
  public var size: Int
  /// What the reader left with its last changes of the zone.
  public var clientChangeToken: [UInt8]?

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
