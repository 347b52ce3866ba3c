import CloudKitModel

/// What happened to changes that were dispatched, as far as it is kept.
public protocol ChangeHistoryStore: Sendable {
  /// The latest changes of a database, newest first.
  ///
  /// - Parameters:
  ///   - recordID: only those of this record; those without values are found by its name alone.
  ///   - sequence: only those before this one.
  func pastChanges(
    of recordID: RecordID?, in database: DatabaseID, before sequence: Int64?, limit: Int
  ) async throws -> [PastChange]
  /// The notifications that a change led to, in the order in which they were logged.
  ///
  /// - Parameter subscriber: only those of this user.
  func notifications(
    ofChange change: PastChange, subscriber: String?, limit: Int
  ) async throws -> [PastNotification]
  /// The latest notifications of one subscription, newest first: those among the latest 2,000 of its
  /// subscriber in the database.
  func notifications(
    ofSubscription name: SubscriptionName, in database: DatabaseID, limit: Int
  ) async throws -> [PastNotification]
  /// The notification that a delivery is of; nil when it is trimmed.
  func logEntry(ofDelivery id: Delivery.ID) async throws -> LogEntry?
  func subscriptionState(
    of name: SubscriptionName, in database: DatabaseID
  ) async throws -> SubscriptionState?
  func subscriptionDeletion(
    of name: SubscriptionName, in database: DatabaseID
  ) async throws -> SubscriptionDeletion?
  /// Subscriptions in the order of subscribers and IDs.
  ///
  /// - Parameters:
  ///   - subscriptionID: only those with this ID, whoever has them.
  ///   - subscriber: only those of this user.
  ///   - name: only those behind this one.
  ///   - limit: how many are given. Where those of all users are looked through for an ID, fifty times
  ///     as many names are looked at.
  func subscriptionStates(
    withID subscriptionID: String?, of subscriber: String?, in database: DatabaseID,
    after name: SubscriptionName?, limit: Int
  ) async throws -> SubscriptionStatePage
  /// When the devices of a user that notifications of a container go to were registered, by token and in
  /// order, until 30 days after each period has ended. Readers of the web courier have the last alone.
  func devicePeriods(of recipient: Recipient) async throws -> [DevicePeriod]
}
