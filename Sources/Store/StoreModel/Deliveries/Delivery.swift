import CloudKitModel

/// A notification that has to be delivered to one device.
///
/// The dispatcher's transaction writes a delivery for each device of the subscriber, except the
/// device that made the change. The delivery waits in the ``DeliveryQueue`` until a
/// ``DeliveryUpdate`` with a final state ends it.
public struct Delivery: Sendable, Hashable {
  /// The identity of a delivery: its database and a number in it.
  public struct ID: Sendable, Hashable {
    /// The database whose change fired the notification.
    public var database: DatabaseID
    /// The delivery's number, which is unique in its database and rises.
    public var number: Int64

    /// Names a delivery, which need not exist.
    public init(database: DatabaseID, number: Int64) {
      self.database = database
      self.number = number
    }
  }

  /// The delivery's database and number.
  public var id: ID
  /// The route on which the delivery waits.
  public var route: DeliveryRoute.ID
  /// The notification, whole. The push channel prunes it to the size of a push.
  public var notification: SubscriptionNotification
  /// The target, as it is registered now.
  public var device: DeviceToken
  /// The device's badge after this notification; nil if the subscription asks for none.
  public var badge: Int?
  /// The time at which the notification was logged.
  public var logged: Timestamp
  /// The number of attempts so far.
  public var attempts: Int
  /// The earliest time of the next attempt; while a process has leased the delivery, the end of the
  /// lease.
  public var due: Timestamp

  /// Creates a delivery without an attempt so far, unless `attempts` says otherwise.
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
