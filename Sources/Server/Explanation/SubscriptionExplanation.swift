import CloudKitModel
import StoreModel

/// The recent history of a subscription.
public struct SubscriptionExplanation: Sendable {
  /// The subscription's present content; nil if it does not exist.
  public var subscription: Subscription?
  /// The time of its last deletion; nil if the store knows of none.
  public var deleted: Timestamp?
  /// The latest notifications of the subscription, newest first.
  public var firings: [NotificationExplanation] = []
  /// The counts of the kept changes by the subscription's result.
  public var tally = Tally()
  /// Whether the store keeps older changes than the tally counts.
  public var moreChanges = false

  /// The counts of examined changes by the subscription's result.
  public struct Tally: Sendable, Hashable {
    /// The number of examined changes.
    public var changes = 0
    /// The number of changes that the subscription matches with its present content, and whose
    /// records the subscriber may read.
    public var fitting = 0
    /// The number of changes for which an index with this subscription alone had to compare filters
    /// without a match. It measures the cost of the subscription.
    public var checkedWithoutMatch = 0
    /// The number of changes of the subscription's record type that each filter refused.
    public var refusals: [Filter: Int] = [:]
    /// The time of the oldest examined change; nil if there is none.
    public var since: Timestamp?
  }
}

/// The result of a dry run of a record: the subscriptions that would fire. Nothing is saved, and
/// nothing is pushed.
public struct RecordDryRun: Sendable {
  /// The subscriptions that would fire, ordered by subscriber and ID.
  public var firing: [SubscriptionName] = []
  /// Whether more subscriptions would fire than are listed.
  public var moreFiring = false
  /// The number of subscriptions in the whole database that match by the index, whether or not
  /// their subscribers may read the record. Nil if no index was used; then only examined
  /// subscriptions are listed.
  public var fitting: Int?
  /// The examined subscriptions that would not fire, with the reasons.
  public var silent: [SilentSubscription] = []
  /// Whether more of the examined subscriptions would not fire than are listed.
  public var moreSilent = false
  /// The number of subscriptions that were examined one by one.
  public var lookedAt = 0
  /// The subscription after which the next call continues; nil if all were examined.
  public var next: SubscriptionName?
}

/// The result of a dry run of a subscription: the recent changes that would have fired it.
public struct SubscriptionDryRun: Sendable {
  /// The matching changes, newest first.
  public var fitting: [PastChange]
  /// The counts of all examined changes.
  public var tally: SubscriptionExplanation.Tally
  /// The sequence number before which the next call continues; nil if all were examined.
  public var next: Int64?
}
