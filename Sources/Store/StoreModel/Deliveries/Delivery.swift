import CloudKitModel

/// A notification to be delivered to one device.
public struct Delivery: Sendable, Hashable {
  /// Identifies a delivery: its database and a number in it.
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
  /// The device's badge after this notification; nil if the subscription asks for none.
  public var badge: Int?
  /// When the notification was logged.
  public var logged: Timestamp
  /// The number of attempts so far.
  public var attempts: Int
  /// The earliest time of the next attempt; while a process has leased it, the end of the lease.
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
