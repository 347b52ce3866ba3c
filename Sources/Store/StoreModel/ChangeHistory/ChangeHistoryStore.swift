import CloudKitModel

/// The dispatched changes and their effects, as long as they are kept (``ChangeHistoryLimits``).
///
/// This history answers questions such as "Why did this device get no push for this change?".
public protocol ChangeHistoryStore: Sendable {
  /// Returns the latest changes of a database, newest first.
  ///
  /// - Parameters:
  ///   - recordID: only changes of this record. Changes without values are found by the record's
  ///     name alone.
  ///   - sequence: only changes before this one.
  func pastChanges(
    of recordID: RecordID?, in database: DatabaseID, before sequence: Int64?, limit: Int
  ) async throws -> [PastChange]
  /// Returns the notifications of a change, in the order of the log.
  ///
  /// - Parameter subscriber: only notifications of this user.
  func notifications(
    ofChange change: PastChange, subscriber: String?, limit: Int
  ) async throws -> [PastNotification]
  /// Returns the latest notifications of one subscription, newest first. The search covers only the
  /// subscriber's latest 2,000 notifications in the database.
  func notifications(
    ofSubscription name: SubscriptionName, in database: DatabaseID, limit: Int
  ) async throws -> [PastNotification]
  /// Returns the notification of a delivery; nil if it has been trimmed.
  func logEntry(ofDelivery id: Delivery.ID) async throws -> LogEntry?
  /// Returns a subscription with its versions; nil if it does not exist.
  func subscriptionState(
    of name: SubscriptionName, in database: DatabaseID
  ) async throws -> SubscriptionState?
  /// Returns the deletion of a subscription; nil if the subscription was not deleted, or if the
  /// store no longer keeps the deletion.
  func subscriptionDeletion(
    of name: SubscriptionName, in database: DatabaseID
  ) async throws -> SubscriptionDeletion?
  /// Returns subscriptions in the order of subscribers and IDs.
  ///
  /// - Parameters:
  ///   - subscriptionID: only subscriptions with this ID, of any user.
  ///   - subscriber: only subscriptions of this user.
  ///   - name: only subscriptions after this one.
  ///   - limit: the most subscriptions returned. A search of all users for an ID examines at most
  ///     50 × `limit` names.
  func subscriptionStates(
    withID subscriptionID: String?, of subscriber: String?, in database: DatabaseID,
    after name: SubscriptionName?, limit: Int
  ) async throws -> SubscriptionStatePage
  /// Returns the periods during which the user's devices were registered for notifications of a
  /// container, by token and in order. A period is kept until 30 days after its end. For readers of
  /// the web courier only the last period is known.
  func devicePeriods(of recipient: Recipient) async throws -> [DevicePeriod]
}
