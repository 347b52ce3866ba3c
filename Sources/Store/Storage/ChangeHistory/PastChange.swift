import CloudKitModel
import StoreModel

/// A change in the history of dispatched changes.
public struct PastChange: Sendable, Hashable {
  /// The database of the change.
  public var database: DatabaseID
  /// The change's number in the outbox of its database: ``OutboxEntry/sequence``.
  public var sequence: Int64
  /// The database's ``SubscriptionState`` version at the commit.
  public var subscriptionVersion: Int64
  /// The time at which all notifications of the change were in the log.
  public var dispatched: Timestamp
  /// The change as it was committed.
  public var change: Change
  /// Whether the store has kept the record's fields (``ChangeHistoryLimits/changeBytes``).
  public var hasFields = true
  /// The participants of shares who learn of the change.
  public var audience = ShareAudience()

  /// The name of the changed record; nil for the change of a zone.
  public var recordName: String? { change.record?.recordID.recordName }
}

extension PastChange {
  /// Creates a past change from one that waits for the dispatcher.
  public init(_ entry: OutboxEntry) {
    self.init(
      database: entry.database, sequence: entry.sequence,
      subscriptionVersion: entry.subscriptionVersion,
      dispatched: Timestamp(milliseconds: .max), change: entry.change, audience: entry.audience)
  }
}

/// A past change of a private database, as it concerns a user who takes or took part in shares.
public struct ForwardedChange: Sendable, Hashable {
  /// The user record name.
  public var user: String
  /// The change as the user learns of it, in the user's shared database.
  public var change: PastChange
  /// The reason why the user does not learn of the change; nil if the user does.
  public var obstacle: ForwardingObstacle?
}

/// The reason why a user does not learn of a change in another user's private database.
public enum ForwardingObstacle: Sendable, Hashable {
  /// The user took part in no share that shows the record: never, or not any more since a time. The
  /// time is nil if the store does not know it.
  case notParticipant(since: Timestamp?)
  case notAccepted
  case outsideHierarchy
}

/// The limits of the history of dispatched changes, which the store keeps for explanations. A
/// change is dispatched when all its notifications are in the log. The store deletes a change some
/// time after it exceeds ``changes`` or ``age``.
public struct ChangeHistoryLimits: Sendable, Hashable {
  /// The latest changes that the store keeps for each database; 0 keeps none.
  public var changes = 10_000
  /// The seconds from the dispatch of a change until the store may delete the change.
  public var age = 7.0 * 24 * 60 * 60
  /// The most bytes of a change with its fields. A larger one is kept without them.
  public var changeBytes = 16 << 10

  /// The default limits.
  public init() {}
}
