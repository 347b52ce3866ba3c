import CloudKitModel

/// An entry of the notification log: one notification of one user.
///
/// The log has all contents of a notification. A push may lack some of them, because its size is
/// limited.
public struct LogEntry: Sendable, Hashable {
  /// The database whose change fired the notification.
  public var database: DatabaseID
  /// The entry's number in its database. A later entry has a greater number.
  public var sequence: Int64
  /// The notification: the subscription, its owner and the change.
  public var notification: SubscriptionNotification
  /// The time at which the entry was written.
  public var logged: Timestamp

  /// Creates a value that describes an entry. It writes nothing to the store.
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
