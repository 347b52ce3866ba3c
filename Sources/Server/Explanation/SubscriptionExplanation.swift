import CloudKitModel
import StoreModel

/// What a subscription has done of late.
public struct SubscriptionExplanation: Sendable {
  /// Nil when there is none of the name.
  public var subscription: Subscription?
  /// When it was deleted, if it was.
  public var deleted: Timestamp?
  /// The latest firings, newest first.
  public var firings: [NotificationExplanation] = []
  /// How it fared with the changes that are kept.
  public var tally = Tally()
  /// Whether there are older changes than the tally is of.
  public var moreChanges = false

  /// The changes that are kept, by what the subscription had to do with them.
  public struct Tally: Sendable, Hashable {
    /// All that were looked at: those that were committed since it was saved.
    public var changes = 0
    /// Those that it would fire on as it is now.
    public var fitting = 0
    /// Those that an index with this subscription alone had to look at, and that do not fit: its cost.
    public var lookedAtInVain = 0
    /// How often each filter said no to a change of its record type.
    public var refusals: [Filter: Int] = [:]
    /// The time of the oldest of them; nil when there are none.
    public var since: Timestamp?
  }
}

/// What would fire, had a record been saved. Nothing is saved and nobody is told.
public struct RecordDryRun: Sendable {
  /// The subscriptions that would fire, in the order of subscribers and IDs.
  public var firing: [SubscriptionName] = []
  /// Whether there are more than are told.
  public var moreFiring = false
  /// How many fit in the whole database, by an index, whether their subscribers may read the record or
  /// not. Nil where no index was asked: then only those that were looked at are told.
  public var fitting: Int?
  /// Those of the question that would not, and why.
  public var silent: [SilentSubscription] = []
  /// Whether more of those that were looked at would not fire than are told.
  public var moreSilent = false
  /// How many subscriptions were looked at one by one.
  public var lookedAt = 0
  /// Behind which there are others to be looked at; nil when it came to the end.
  public var next: SubscriptionName?
}

/// Which recent changes would have fired a subscription, had it been there.
public struct SubscriptionDryRun: Sendable {
  /// Newest first.
  public var fitting: [PastChange]
  public var tally: SubscriptionExplanation.Tally
  /// Before which there are others to be looked at; nil when it came to the oldest.
  public var next: Int64?
}
