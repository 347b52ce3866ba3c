import CloudKitModel
import Storage
import StoreModel

/// The recent history of a subscription.
public struct SubscriptionExplanation: Sendable {
  /// The subscription's present content; nil if the subscription does not exist.
  public var subscription: Subscription?
  /// The address of another database of the container that has the subscription; nil if it exists in this
  /// one, or in none.
  public var place: DatabaseAddress?
  /// The time of the subscription's last deletion; nil if the store has no record of a deletion.
  public var deleted: Timestamp?
  /// The latest notifications of the subscription, newest first.
  public var firings: [NotificationExplanation] = []
  /// The numbers of examined changes that the subscription matches and does not match.
  public var tally = Tally()
  /// Whether the store may keep older changes than the tally counts.
  public var moreChanges = false

  /// The numbers of examined changes that a subscription matches and does not match.
  public struct Tally: Sendable, Hashable {
    /// The number of examined changes.
    public var changes = 0
    /// The number of changes that the subscription matches with its present content, and whose
    /// records the subscriber may read.
    public var fitting = 0
    /// The number of changes for which an index with only this subscription had to test its
    /// filters, and a filter did not match. This number measures the cost of the subscription.
    public var checkedWithoutMatch = 0
    /// For each filter, the number of changes of the subscription's record type that the filter did
    /// not match.
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
  /// The number of subscriptions in the whole database that match in the index. It includes those
  /// whose subscribers may not read the record. Nil means that no index was used; then only
  /// examined subscriptions are listed.
  public var fitting: Int?
  /// The examined subscriptions that would not fire, with the reasons.
  public var silent: [SilentSubscription] = []
  /// Whether more of the examined subscriptions would not fire than are listed.
  public var moreSilent = false
  /// The number of subscriptions that were examined one by one, without the index.
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
