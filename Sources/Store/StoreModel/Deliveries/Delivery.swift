import CloudKitModel

/// The task to send one notification to one device.
///
/// The dispatcher's transaction writes a delivery for each device of the subscriber that gets
/// pushes, except the device that made the change. If the server has no channel to a device, or if
/// too many deliveries wait, it writes none (``UnsentDeliveries``). The delivery waits in the
/// ``DeliveryQueue`` until it gets a final state by a ``DeliveryUpdate``.
public struct Delivery: Sendable, Hashable {
  /// The identity of a delivery: its database and its number in the database.
  public struct ID: Sendable, Hashable {
    /// The database whose change fired the notification.
    public var database: DatabaseID
    /// The delivery's number, unique in its database. A later delivery has a greater number.
    public var number: Int64

    /// Creates an ID. There need not be a delivery with this ID.
    public init(database: DatabaseID, number: Int64) {
      self.database = database
      self.number = number
    }
  }

  /// The delivery's database and number.
  public var id: ID
  /// The route on which the delivery waits: see ``DeliveryRoute``.
  public var route: DeliveryRoute.ID
  /// The notification with all its contents. The push channel leaves out contents that exceed the
  /// size of a push.
  public var notification: SubscriptionNotification
  /// The device, as it was registered when the delivery was read from the store.
  public var device: DeviceToken
  /// The device's badge after this notification; nil if the subscription asks for none.
  public var badge: Int?
  /// The time at which the notification was logged.
  public var logged: Timestamp
  /// The number of attempts so far.
  public var attempts: Int
  /// The earliest time of the next attempt; while a process has leased the delivery, the end of the
  /// lease (``DeliveryLease``).
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
