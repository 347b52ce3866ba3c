import CloudKitModel

/// A committed change in the outbox that waits to be dispatched: matched against subscriptions,
/// with the notifications written to the log.
///
/// The transaction that makes a change writes the entry, so every committed change has one. The
/// entry carries the changed record as it was committed, so matching reads no records.
public struct OutboxEntry: Sendable, Hashable {
  /// The bytes of stored changes after which a reading of the outbox returns no further one.
  public static let bytesAtOnce = 4 << 20

  /// The subscribers to whom the change is to be dispatched.
  public var part: DatabasePart
  /// A change of the database that is committed later has a greater number.
  public var sequence: Int64
  /// The database's ``SubscriptionState`` version at the commit.
  public var subscriptionVersion: Int64
  /// The change, with the user and device that made it.
  public var change: Change
  /// The last subscription whose notification is written, in the order of subscribers and IDs by
  /// their bytes (`MatchedChange.isWhole`).
  public var settledThrough: SubscriptionName?
  /// The participants of shares who learn of the change.
  public var audience: ShareAudience
  /// The source of a change that is forwarded to a participant's shared database. The change has
  /// the number that it has in its source.
  public var forwarding: ChangeForwarding?
  /// The subscribers whose firings of this and of later changes are deferred (``DeferredWork``).
  public var deferring: [String] = []
  /// The subscriber for whom a deferred change is dispatched now; nil for all other changes.
  public var deferral: String?
  package var byteCount = 0
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

/// The users besides the owner who learn of a change in a private database: participants of its
/// shares.
///
/// The transaction of the change determines the audience. Who takes part in the shares is read when
/// the change is forwarded, so a participant who was removed meanwhile does not learn of it.
public struct ShareAudience: Sendable, Hashable {
  /// The shares that show the change, by the record's place before and after it.
  public var shares: [Int64]
  /// The user record names of participants whose part ended with the change. They learn of it once.
  public var departed: [String]

  /// Creates an audience.
  public init(shares: [Int64] = [], departed: [String] = []) {
    self.shares = shares
    self.departed = departed
  }

  /// Whether nobody can belong to the audience.
  public var isEmpty: Bool { shares.isEmpty && departed.isEmpty }
}

/// Where a change comes from that is forwarded to the shared database of a participant.
public struct ChangeForwarding: Sendable, Hashable {
  /// The owner's private database, in which the change was committed.
  public var source: DatabaseID
  /// Whether the participant has no part in the zone any more. Waiting pushes of the zone are then
  /// not sent.
  public var endsZone: Bool

  /// The reason why a push of a zone is not sent after the user's part in the zone has ended.
  public static let removedReason = "the user does not take part in the zone any more"

  /// Creates the source of a forwarded change.
  public init(source: DatabaseID, endsZone: Bool) {
    self.source = source
    self.endsZone = endsZone
  }
}

/// Changes whose firings for one subscriber are *deferred*.
///
/// A firing is a subscription that a change matches. The changes of a database may fire very many
/// subscriptions of one user. So that other users do not wait, the dispatcher then marks the changes
/// as dispatched without the firings of this user. The store keeps the position up to which this
/// user's firings are logged. The deferred changes stay in the outbox until the position has passed
/// them.
///
/// Only a whole subscriber is deferred, so the entries of each user's log keep the order of the
/// commits.
public struct DeferredWork: Sendable {
  /// A deferred change.
  public struct Change: Sendable {
    /// The change, with ``OutboxEntry/deferral``. The first may be partly dispatched
    /// (``OutboxEntry/settledThrough``).
    public var entry: OutboxEntry
    /// Whether the subscriber may read the changed record now. If not, its firings are withheld.
    public var isReadable: Bool

    /// Creates a deferred change.
    public init(entry: OutboxEntry, isReadable: Bool) {
      self.entry = entry
      self.isReadable = isReadable
    }
  }

  /// The oldest changes that wait, in the order of their numbers.
  public var changes: [Change]
  /// The still older changes that were given up, because too many waited.
  public var givenUp = 0
  /// The present subscriptions of the subscriber in the database.
  public var subscriptions: [StoredSubscription]
  /// The ``NotificationLogLimits/entries`` of the subscriber's log.
  public var entryLimit: Int

  /// Creates the work from its parts.
  public init(changes: [Change], subscriptions: [StoredSubscription], entryLimit: Int) {
    self.changes = changes
    self.subscriptions = subscriptions
    self.entryLimit = entryLimit
  }
}
