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
  /// The participants of shares who learn of the change.
  public var audience: ShareAudience

  /// The name of the changed record; nil for the change of a zone.
  public var recordName: String? { change.record?.recordID.recordName }

  /// Creates a past change from its outbox row and the time of its dispatch.
  package init(
    database: DatabaseID, sequence: Int64, subscriptionVersion: Int64, dispatched: Timestamp,
    change: Change, hasFields: Bool = true, audience: ShareAudience = ShareAudience()
  ) {
    self.database = database
    self.sequence = sequence
    self.subscriptionVersion = subscriptionVersion
    self.dispatched = dispatched
    self.change = change
    self.hasFields = hasFields
    self.audience = audience
  }

  /// Creates a past change from one that waits for the dispatcher.
  public init(_ entry: OutboxEntry) {
    self.init(
      database: entry.database, sequence: entry.sequence,
      subscriptionVersion: entry.subscriptionVersion,
      dispatched: Timestamp(milliseconds: .max), change: entry.change, audience: entry.audience)
  }
}
