import CloudKitModel

/// A change in the history of dispatched changes.
public struct PastChange: Sendable, Hashable {
  /// The database of the change.
  public var database: DatabaseID
  /// The change's number in the outbox of its database: ``OutboxEntry/sequence``.
  public var sequence: Int64
  /// The database's subscription version when the change was committed: see ``SubscriptionState``.
  public var subscriptionVersion: Int64
  /// The time at which all notifications of the change were in the log.
  public var dispatched: Timestamp
  /// The change as it was committed.
  public var change: Change
  /// Whether the store has kept the record's fields. If false, the record in ``change`` has no
  /// fields, because the change was too large (``ChangeHistoryLimits/changeBytes``).
  public var hasFields: Bool

  /// The name of the changed record; nil for the change of a zone.
  public var recordName: String? { change.record?.recordID.recordName }

  /// Creates a past change from its outbox row and the time of its dispatch.
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
