import CloudKitModel
import PushChannels
import StoreModel

/// Tells why a push came, or did not: from what the store keeps of the latest changes, of their
/// notifications and of the deliveries.
///
/// ```swift
/// let explanation = try await Explainer(store: store).explain(
///   RecordID(recordName: "quake-1"), in: database)
/// for change in explanation.changes { print(change.notifications.count, change.silent.count) }
/// ```
public struct Explainer: Sendable {
  /// How much is told.
  public struct Limits: Sendable {
    /// Changes of a record, and firings of a subscription.
    public var changes = 10
    /// Notifications of a change.
    public var notifications = 50
    /// Subscriptions that did not fire on a change.
    public var silent = 50
    /// Subscriptions that are looked at for them, at most, of all changes together.
    public var subscriptionsLookedAt = 10_000
    /// Subscriptions that a dry run of a change looks at one by one.
    public var subscriptionsTried = Int.max
    /// Changes that a dry run of a subscription looks at.
    public var changesTried = Int.max

    public init() {}
  }

  /// Asks an index which subscriptions of a database fit a change: some of their names, and how many
  /// there are; nil where there is no index now.
  public typealias Index =
    @Sendable (Change, DatabaseID) async throws -> (names: [SubscriptionName], count: Int)?

  let store: ExplanationStore
  let limits: Limits
  let index: Index?

  /// - Parameter index: makes a dry run of a change fast where there are many subscriptions.
  public init(store: ExplanationStore, limits: Limits = Limits(), index: Index? = nil) {
    self.store = store
    self.limits = limits
    self.index = index
  }

  /// Which subscriptions are asked about: those of a user, those with an ID, or all.
  public struct Question: Sendable, Hashable {
    public var subscriber: String?
    public var subscriptionID: String?

    public init(subscriber: String? = nil, subscriptionID: String? = nil) {
      self.subscriber = subscriber
      self.subscriptionID = subscriptionID
    }

    /// The one subscription that is meant, when one is.
    var name: SubscriptionName? {
      guard let subscriber, let subscriptionID else { return nil }
      return SubscriptionName(subscriber: subscriber, subscriptionID: subscriptionID)
    }

    func isAbout(_ notification: SubscriptionNotification) -> Bool {
      (subscriber ?? notification.subscriber) == notification.subscriber
        && (subscriptionID ?? notification.subscription.subscriptionID)
          == notification.subscription.subscriptionID
    }
  }

  /// The time line of a record's latest changes.
  ///
  /// - Parameter sequence: only changes before this one.
  /// - Throws: ``StoreError`` when the store fails.
  public func explain(
    _ recordID: RecordID, in database: DatabaseID, about question: Question = Question(),
    before sequence: Int64? = nil
  ) async throws -> RecordExplanation {
    let waiting =
      sequence == nil ? try await waitingChanges(of: recordID, in: database) : []
    let kept = try await store.changeHistory.pastChanges(
      of: recordID, in: database, before: sequence, limit: limits.changes + 1)
    var explanation = RecordExplanation(
      recordID: recordID, changes: [], moreComing: kept.count > limits.changes)
    for entry in waiting.reversed() {
      explanation.changes.append(
        ChangeExplanation(
          sequence: entry.sequence, change: entry.change, hasFields: true, dispatched: nil))
    }
    var effort = limits.subscriptionsLookedAt
    for past in kept.prefix(limits.changes) {
      explanation.changes.append(try await explain(past, about: question, effort: &effort))
    }
    if explanation.changes.isEmpty, sequence == nil {
      explanation.remark = try await remark(onSilenceOf: recordID, in: database)
    }
    return explanation
  }

  /// Changes that are committed and wait to be matched.
  private func waitingChanges(
    of recordID: RecordID, in database: DatabaseID
  ) async throws -> [OutboxEntry] {
    try await store.outbox.undispatchedChanges(in: database, after: .min, limit: 1_000).filter {
      $0.change.record?.recordID == recordID
    }
  }

  private func remark(onSilenceOf recordID: RecordID, in database: DatabaseID) async throws
    -> String
  {
    guard let record = try await store.records.records([recordID], in: database).first ?? nil else {
      return "there is no such record, and no change of it is kept"
    }
    let time = record.modified?.timestamp.iso8601 ?? "an unknown time"
    return
      "the record was last changed at \(time), and no change of it is kept: the database had no "
      + "subscriptions then, or it is too long ago, or too many others came after it"
  }

  /// What a change led to, and what it did not.
  func explain(
    _ past: PastChange, about question: Question, effort: inout Int
  ) async throws -> ChangeExplanation {
    var explanation = ChangeExplanation(
      sequence: past.sequence, change: past.change, hasFields: past.hasFields,
      dispatched: past.dispatched)
    // A user may have others that fired.
    let limit = question.subscriptionID == nil ? limits.notifications + 1 : 1_000
    let notifications = try await store.changeHistory.notifications(
      ofChange: past, subscriber: question.subscriber, limit: limit)
    let wanted = notifications.filter { question.isAbout($0.entry.notification) }
    explanation.moreNotifications =
      wanted.count > limits.notifications
      || notifications.count == limit && question.subscriptionID != nil
    for notification in wanted.prefix(limits.notifications) {
      explanation.notifications.append(try await explain(notification))
    }
    try await tellSilent(of: past, about: question, in: &explanation, effort: &effort)
    return explanation
  }
}
