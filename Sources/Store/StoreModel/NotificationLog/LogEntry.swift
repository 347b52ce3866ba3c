import CloudKitModel

/// An entry of the notification log.
public struct LogEntry: Sendable, Hashable {
  public var database: DatabaseID
  /// Rises with each entry of the database.
  public var sequence: Int64
  public var notification: SubscriptionNotification
  public var logged: Timestamp

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
