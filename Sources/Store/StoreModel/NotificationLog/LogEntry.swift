import CloudKitModel

/// An entry of the notification log: one notification of one user.
///
/// The log has all contents of a notification, also those that are pruned from its pushes.
public struct LogEntry: Sendable, Hashable {
  /// The database whose change fired the notification.
  public var database: DatabaseID
  /// The entry's number, which rises with each entry of the database.
  public var sequence: Int64
  /// The notification: the subscription, its owner and the change.
  public var notification: SubscriptionNotification
  /// The time of the dispatch.
  public var logged: Timestamp

  /// Creates an entry value. It writes nothing.
  public init(
    database: DatabaseID, sequence: Int64, notification: SubscriptionNotification,
    logged: Timestamp
  ) {
    self.database = database
    self.sequence = sequence
    self.notification = notification
    self.logged = logged
  }
}
