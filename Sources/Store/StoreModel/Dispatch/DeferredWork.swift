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
    /// The change, with ``OutboxEntry/deferral`` set. The first change may be partly dispatched to
    /// the subscriber: see ``OutboxEntry/settledThrough``.
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
  /// The number of still older changes that were given up, because too many waited.
  public var givenUp = 0
  /// The present subscriptions of the subscriber in the database.
  public var subscriptions: [StoredSubscription]
  /// The number of newest entries that the subscriber's log keeps
  /// (``NotificationLogLimits/entries``).
  public var entryLimit: Int

  /// Creates the work from its parts.
  public init(changes: [Change], subscriptions: [StoredSubscription], entryLimit: Int) {
    self.changes = changes
    self.subscriptions = subscriptions
    self.entryLimit = entryLimit
  }
}
