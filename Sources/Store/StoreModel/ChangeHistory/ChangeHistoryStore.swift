import CloudKitModel

/// The history of dispatched changes and their effects. A change is dispatched when all its
/// notifications are in the log. ``ChangeHistoryLimits`` says how long changes stay in the history.
///
/// This history answers questions such as "Why did this device get no push for this change?".
public protocol ChangeHistoryStore: Sendable {
  /// Returns the latest changes of a database, newest first.
  ///
  /// - Parameters:
  ///   - recordID: the record whose changes are returned; nil for all changes. A change without
  ///     fields (``PastChange/hasFields``) is found by the record's name alone.
  ///   - sequence: the number of a change; only earlier changes are returned. Nil begins with the
  ///     newest dispatched change.
  ///   - limit: the most changes returned.
  func pastChanges(
    of recordID: RecordID?, in database: DatabaseID, before sequence: Int64?, limit: Int
  ) async throws -> [PastChange]
  /// Returns the notifications of a change, in the order of the log.
  ///
  /// - Parameters:
  ///   - subscriber: the user whose notifications are returned; nil for all users.
  ///   - limit: the most notifications returned.
  func notifications(
    ofChange change: PastChange, subscriber: String?, limit: Int
  ) async throws -> [PastNotification]
  /// Returns a change of a private database as it concerns participants of its shares.
  ///
  /// - Parameter user: the only user in the result; nil for all users who learned of the change.
  /// - Returns: empty for a change of another database, and for users without a shared database.
  func forwards(of change: PastChange, to user: String?) async throws -> [ForwardedChange]
  /// Returns the latest notifications of one subscription, newest first. The search covers only the
  /// subscriber's latest 2,000 notifications in the database.
  func notifications(
    ofSubscription name: SubscriptionName, in database: DatabaseID, limit: Int
  ) async throws -> [PastNotification]
  /// Returns the notification of a delivery; nil if the store has deleted the delivery or the
  /// notification.
  func logEntry(ofDelivery id: Delivery.ID) async throws -> LogEntry?
  /// Returns a subscription with its versions; nil if there is no such subscription.
  func subscriptionState(
    of name: SubscriptionName, in database: DatabaseID
  ) async throws -> SubscriptionState?
  /// Returns the deletion of a subscription; nil if the subscription was not deleted, or if the
  /// store no longer has the row of the deletion.
  func subscriptionDeletion(
    of name: SubscriptionName, in database: DatabaseID
  ) async throws -> SubscriptionDeletion?
  /// Returns a page of a database's subscriptions, in the order of subscribers and IDs.
  ///
  /// - Parameters:
  ///   - subscriptionID: the ID of the subscriptions; nil for all IDs.
  ///   - subscriber: the user whose subscriptions are returned; nil for all users.
  ///   - name: the subscription after which the page begins; nil for the first page.
  ///   - limit: the most subscriptions returned. With an ID and without a subscriber, a call
  ///     examines at most 50 × `limit` subscriptions.
  func subscriptionStates(
    withID subscriptionID: String?, of subscriber: String?, in database: DatabaseID,
    after name: SubscriptionName?, limit: Int
  ) async throws -> SubscriptionStatePage
  /// Returns the periods during which the user's devices were registered for notifications of a
  /// container, in the order of kinds, tokens and beginnings.
  ///
  /// The store keeps a period for 30 days after its end, or longer if it keeps the notification log
  /// longer. For a reader of the web courier, the store has only the present registration.
  func devicePeriods(of recipient: Recipient) async throws -> [DevicePeriod]
}
