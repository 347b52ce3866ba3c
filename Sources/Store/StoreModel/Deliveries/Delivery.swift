import CloudKitModel

/// A notification that is owed to one device.
public struct Delivery: Sendable, Hashable {
  /// Names a delivery: its database and a number in it.
  public struct ID: Sendable, Hashable {
    public var database: DatabaseID
    public var number: Int64

    public init(database: DatabaseID, number: Int64) {
      self.database = database
      self.number = number
    }
  }

  public var id: ID
  public var route: DeliveryRoute.ID
  public var notification: SubscriptionNotification
  public var device: DeviceToken
  /// The device's badge after this notification; nil when the subscription does not ask for one.
  public var badge: Int?
  /// When the notification was logged.
  public var logged: Timestamp
  /// Attempts that were made so far.
  public var attempts: Int
  /// Not before this moment; of one that a process has taken, the end of its lease.
  public var due: Timestamp

  public init(
    id: ID, route: DeliveryRoute.ID, notification: SubscriptionNotification, device: DeviceToken,
    badge: Int?, logged: Timestamp, attempts: Int = 0, due: Timestamp
  ) {
    self.id = id
    self.route = route
    self.notification = notification
    self.device = device
    self.badge = badge
    self.logged = logged
    self.attempts = attempts
    self.due = due
  }
}
