import CloudKitModel

/// A change that was dispatched not long ago.
public struct PastChange: Sendable, Hashable {
  public var database: DatabaseID
  public var sequence: Int64
  /// The database's subscription version when the change was committed.
  public var subscriptionVersion: Int64
  /// When all that it led to was in the notification log.
  public var dispatched: Timestamp
  public var recordName: String?
  /// Nil when it was too large to be kept.
  public var change: Change?

  package init(
    database: DatabaseID, sequence: Int64, subscriptionVersion: Int64, dispatched: Timestamp,
    recordName: String? = nil, change: Change? = nil
  ) {
    self.database = database
    self.sequence = sequence
    self.subscriptionVersion = subscriptionVersion
    self.dispatched = dispatched
    self.recordName = recordName
    self.change = change
  }
}
