import CloudKitModel

/// A committed change in the outbox that waits to be dispatched: matched against subscriptions,
/// with the notifications written to the log.
///
/// The transaction that makes a change writes the entry, so every committed change has one. The
/// entry carries the changed record as it was committed, so matching reads no records.
public struct OutboxEntry: Sendable, Hashable {
  /// The size in bytes of stored changes after which a reading of the outbox returns no further one.
  public static let bytesAtOnce = 4 << 20

  /// The part of the database's subscribers (``DatabasePart``) to which the change is to be
  /// dispatched.
  public var part: DatabasePart
  /// The change's number in its database. A change that is committed later has a greater number.
  public var sequence: Int64
  /// The database's subscription version when the change was committed: see ``SubscriptionState``.
  public var subscriptionVersion: Int64
  /// The change: the event, the record, and the user and device that made it.
  public var change: Change
  /// The last subscription whose notification is written, if the change is only partly dispatched;
  /// nil if no notification is written. The order is that of subscribers and IDs, by their bytes.
  /// See ``MatchedChange/isWhole``.
  public var settledThrough: SubscriptionName?
  /// The participants of shares who learn of the change; empty if there are none.
  public var audience: ShareAudience
  /// The source of a change that is forwarded to the shared database of a participant; nil for a
  /// change of the database itself. A forwarded change has the number that it has in its source.
  public var forwarding: ChangeForwarding?
  /// The subscribers whose firings of this change and of later changes wait as *deferred* firings,
  /// because there are very many of them; see ``DeferredWork``.
  public var deferring: [String] = []
  /// The subscriber for whom a deferred change is dispatched now; nil for all other changes.
  public var deferral: String?
  /// The size of the stored change in bytes.
  package var byteCount = 0
  /// Whether the change is larger than ``ChangeHistoryLimits/changeBytes``.
  package var isLarge = false

  /// The database of the change.
  public var database: DatabaseID { part.database }

  /// Creates an entry.
  public init(
    part: DatabasePart, sequence: Int64, subscriptionVersion: Int64, change: Change,
    settledThrough: SubscriptionName? = nil, audience: ShareAudience = ShareAudience()
  ) {
    self.part = part
    self.sequence = sequence
    self.subscriptionVersion = subscriptionVersion
    self.change = change
    self.settledThrough = settledThrough
    self.audience = audience
  }
}
