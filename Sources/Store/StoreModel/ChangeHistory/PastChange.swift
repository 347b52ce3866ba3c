import CloudKitModel

/// A dispatched change of the recent past.
public struct PastChange: Sendable, Hashable {
  public var database: DatabaseID
  public var sequence: Int64
  /// The database's subscription version when the change was committed.
  public var subscriptionVersion: Int64
  /// When all notifications of the change were in the log.
  public var dispatched: Timestamp
  public var change: Change
  /// Whether the record's fields were kept; otherwise the record appears without fields.
  public var hasFields: Bool

  public var recordName: String? { change.record?.recordID.recordName }

  package init(
    database: DatabaseID, sequence: Int64, subscriptionVersion: Int64, dispatched: Timestamp,
    change: Change, hasFields: Bool = true
  ) {
    self.database = database
    self.sequence = sequence
    self.subscriptionVersion = subscriptionVersion
    self.dispatched = dispatched
    self.change = change
    self.hasFields = hasFields
  }
}
