import CloudKitModel
import PushChannels
import Storage
import StoreModel

/// The part of the server that explains why notifications came or did not come. It reads the recent
/// changes, notifications and deliveries that the store keeps (`explain` in the configuration).
///
/// A subscription is *silent* for a change if the change did not fire it.
///
/// ```swift
/// let explanation = try await Explainer(store: store).explain(
///   RecordID(recordName: "quake-1"), in: database)
/// for change in explanation.changes { print(change.notifications.count, change.silent.count) }
/// ```
public struct Explainer: Sendable {
  /// The limits of an explanation's size and of the work for it.
  public struct Limits: Sendable {
    /// The maximum number of listed items: changes of a record, notifications of a subscription, or
    /// matching changes in the dry run of a subscription.
    public var changes = 10
    /// The maximum number of listed notifications of a change, and of listed firing subscriptions
    /// in the dry run of a change.
    public var notifications = 50
    /// The maximum number of listed silent subscriptions of a change.
    public var silent = 50
    /// The maximum number of subscriptions that are examined for all changes of an explanation
    /// together.
    public var subscriptionsLookedAt = 10_000
    /// The maximum number of subscriptions that a dry run of a change examines.
    public var subscriptionsTried = Int.max
    /// The maximum number of changes that a dry run of a subscription examines.
    public var changesTried = Int.max

    /// Creates the default limits.
    public init() {}
  }

  /// A function that searches a subscription index for the subscriptions of a database that match a
  /// change. It returns the names of some of these subscriptions, and the number of all of them. It
  /// returns nil if there is no index at the moment.
  public typealias Index =
    @Sendable (Change, DatabaseID) async throws -> (names: [SubscriptionName], count: Int)?

  /// A function that returns the reason, as a part of a sentence, why the configuration has no way to a
  /// device; nil if it has one.
  public typealias RouteCheck = @Sendable (DeviceToken) -> String?

  let store: Store
  let limits: Limits
  let index: Index?
  let lackOfRoute: RouteCheck

  /// Creates an explainer.
  ///
  /// - Parameters:
  ///   - index: makes a dry run of a change fast if there are many subscriptions. With nil, the explainer
  ///     examines the subscriptions one by one.
  ///   - lackOfRoute: the check of the present configuration. The default knows a way to each device.
  public init(
    store: Store, limits: Limits = Limits(), index: Index? = nil,
    lackOfRoute: @escaping RouteCheck = { _ in nil }
  ) {
    self.store = store
    self.limits = limits
    self.index = index
    self.lackOfRoute = lackOfRoute
  }

  /// A restriction of an explanation to the subscriptions of a user, to those with an ID, or to
  /// both.
  public struct Question: Sendable, Hashable {
    /// The user record name of the subscriber; nil for all subscribers.
    public var subscriber: String?
    /// The subscription ID; nil for all IDs.
    public var subscriptionID: String?

    /// Creates a restriction; without arguments it permits all subscriptions.
    public init(subscriber: String? = nil, subscriptionID: String? = nil) {
      self.subscriber = subscriber
      self.subscriptionID = subscriptionID
    }

    /// The name of the only permitted subscription; nil if several are permitted.
    var name: SubscriptionName? {
      guard let subscriber, let subscriptionID else { return nil }
      return SubscriptionName(subscriber: subscriber, subscriptionID: subscriptionID)
    }

    /// Whether a notification belongs to a permitted subscription.
    func isAbout(_ notification: SubscriptionNotification) -> Bool {
      (subscriber ?? notification.subscriber) == notification.subscriber
        && (subscriptionID ?? notification.subscription.subscriptionID)
          == notification.subscription.subscriptionID
    }
  }

  /// Explains the recent changes of a record, newest first.
  ///
  /// Changes that still wait for the dispatcher come before the dispatched changes that the store
  /// keeps.
  ///
  /// - Parameters:
  ///   - question: restricts the subscriptions in the explanation.
  ///   - sequence: a sequence number. Only changes with a smaller number are explained; nil sets no
  ///     limit.
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
    var effort = limits.subscriptionsLookedAt
    for entry in waiting.reversed() {
      var change = ChangeExplanation(
        sequence: entry.sequence, change: entry.change, hasFields: true, dispatched: nil)
      if question.subscriber != nil {
        try await add(
          try await store.changeHistory.forwards(
            of: PastChange(entry), to: question.subscriber),
          about: question, to: &change, effort: &effort)
      }
      explanation.changes.append(change)
    }
    for past in kept.prefix(limits.changes) {
      explanation.changes.append(try await explain(past, about: question, effort: &effort))
    }
    if explanation.changes.isEmpty, sequence == nil {
      explanation.remark = try await remark(onSilenceOf: recordID, in: database)
    }
    return explanation
  }

  /// Returns the record's changes among the first 1,000 committed changes that wait for the
  /// dispatcher.
  private func waitingChanges(
    of recordID: RecordID, in database: DatabaseID
  ) async throws -> [OutboxEntry] {
    try await store.outbox.undispatchedChanges(
      in: .whole(database), after: .min, limit: 1_000
    ).filter {
      $0.change.record?.recordID == recordID
    }
  }

  /// Returns a remark about a record if the store keeps no change of it.
  private func remark(onSilenceOf recordID: RecordID, in database: DatabaseID) async throws
    -> String
  {
    guard let record = try await store.records.records([recordID], in: database).first ?? nil else {
      return "there is no such record, and no change of it is kept"
    }
    let time = record.modified?.timestamp.iso8601 ?? "an unknown time"
    return
      "the record was last changed at \(time), and no change of it is kept: the database had no "
      + "subscriptions then, or retention has deleted the change"
  }

  /// Explains a change: its notifications, and the subscriptions that stayed silent.
  ///
  /// - Parameter effort: the number of subscriptions that may still be examined. The method reduces
  ///   this number.
  func explain(
    _ past: PastChange, about question: Question, effort: inout Int
  ) async throws -> ChangeExplanation {
    var explanation = ChangeExplanation(
      sequence: past.sequence, change: past.change, hasFields: past.hasFields,
      dispatched: past.dispatched)
    let forwards = try await store.changeHistory.forwards(of: past, to: question.subscriber)
    if question.subscriber == nil || forwards.isEmpty {
      try await addNotifications(of: past, about: question, in: &explanation)
      try await addSilent(of: past, about: question, in: &explanation, effort: &effort)
    }
    try await add(forwards, about: question, to: &explanation, effort: &effort)
    return explanation
  }

  func addNotifications(
    of past: PastChange, about question: Question, in explanation: inout ChangeExplanation
  ) async throws {
    // The store can select by subscriber, but not by subscription ID. With an ID, more
    // notifications are read, because the change may have fired other subscriptions of the user
    // too.
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
  }
}
