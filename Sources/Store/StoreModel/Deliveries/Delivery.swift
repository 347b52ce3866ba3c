import CloudKitModel

/// The task to send one notification to one device.
///
/// The dispatcher's transaction writes a delivery for each device of the subscriber that gets
/// pushes, except the device that made the change. If the server has no channel to a device, or if
/// too many deliveries wait, it writes none (``UnsentDeliveries``). The delivery waits in the
/// ``DeliveryQueue`` until it gets a final state by a ``DeliveryUpdate``.
public struct Delivery: Sendable, Hashable {
  /// The identity of a delivery.
  public struct ID: Sendable, Hashable {
    /// The database whose change fired the notification.
    public var database: DatabaseID
    /// The number, unique in the database. A later delivery has a greater one.
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
  /// The notification with all contents. The push channel leaves out those that exceed the size of
  /// a push.
  public var notification: SubscriptionNotification
  /// The device as registered when the delivery was read.
  public var device: DeviceToken
  /// The device's badge after this notification; nil if the subscription asks for none.
  public var badge: Int?
  /// The time at which the notification was logged.
  public var logged: Timestamp
  /// The number of attempts so far.
  public var attempts: Int
  /// The earliest time of the next attempt, or the end of the ``DeliveryLease``.
  public var due: Timestamp

  /// Creates a delivery.
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

/// A route of notifications: a container, a kind of device, an APNs environment and an app. The
/// delivery worker serves each route independently, so a service that does not answer delays only
/// its own routes.
public struct DeliveryRoute: Sendable, Hashable {
  /// The number of a route in the store.
  public struct ID: RawRepresentable, Sendable, Hashable {
    /// The number.
    public var rawValue: Int64

    /// Restores an ID from its number.
    public init(rawValue: Int64) {
      self.rawValue = rawValue
    }
  }

  /// The kind of the devices. It determines the service that gets the pushes.
  public var kind: DeviceToken.Kind
  /// The container whose notifications are sent on the route.
  public var container: String
  /// The APNs environment. It has a meaning only for the kind ``DeviceToken/Kind/apns``.
  public var apnsEnvironment: APNsEnvironment
  /// The bundle ID of the devices' registrations; nil for devices that name none.
  public var bundleID: String?

  /// Describes a route from its parts.
  public init(
    kind: DeviceToken.Kind, container: String, apnsEnvironment: APNsEnvironment,
    bundleID: String? = nil
  ) {
    self.kind = kind
    self.container = container
    self.apnsEnvironment = apnsEnvironment
    self.bundleID = bundleID
  }

  /// Describes the route to a device.
  public init(to device: DeviceToken) {
    self.init(
      kind: device.kind, container: device.container, apnsEnvironment: device.apnsEnvironment,
      bundleID: device.bundleID)
  }
}

/// The key of deliveries that can be merged: of those with the same key in one database to one
/// device, only the newest is sent.
///
/// Silent notifications only say that there is something new, so those of a subscription are
/// merged. Shown ones have high priority, and are merged only if the subscription has a collapse
/// ID.
///
/// | subscription | key |
/// | --- | --- |
/// | silent, with the ID `notes` | `snotes` |
/// | shown, with the collapse ID `inbox` | `cinbox` |
/// | shown, without a collapse ID | none |
public struct DeliveryMergeKey: Sendable, Hashable {
  /// The stored text: the prefix `s` with the subscription's ID, or the prefix `c` with the
  /// collapse ID.
  public let text: String

  /// Creates the key of a subscription's notifications; nil if they are never merged.
  public init?(_ subscription: Subscription) {
    let info = subscription.notificationInfo
    if info?.isHighPriority == true {
      guard let collapseID = info?.collapseIDKey, !collapseID.isEmpty else { return nil }
      text = "c" + collapseID
    } else {
      text = Self.silentPrefix + subscription.subscriptionID
    }
  }

  package static let silentPrefix = "s"

  /// Whether the key is that of silent notifications. These have low priority at APNs.
  public var isSilent: Bool { text.hasPrefix(Self.silentPrefix) }
}

/// The deliveries that a process has leased.
public struct TakenDeliveries: Sendable {
  /// The deliveries to send. Those that are due longest come first.
  public var deliveries: [Delivery]
  /// The deliveries whose earlier lease ended without an outcome: the process that had it may
  /// still be sending the push.
  public var renewed: Set<Delivery.ID>
  /// The number of due deliveries that were merged into newer ones.
  public var mergedCount: Int
  /// The deliveries that cannot be sent and were abandoned: the device or the log entry was
  /// deleted, or the device now has another user or container.
  public var lostCount: Int
  /// Whether the call found all due deliveries. If false, more may be due.
  public var isAll: Bool

  /// Creates a result, by default without due deliveries.
  public init(
    deliveries: [Delivery] = [], renewed: Set<Delivery.ID> = [], mergedCount: Int = 0,
    lostCount: Int = 0, isAll: Bool = true
  ) {
    self.deliveries = deliveries
    self.renewed = renewed
    self.mergedCount = mergedCount
    self.lostCount = lostCount
    self.isAll = isAll
  }
}

/// The queue of deliveries to devices.
///
/// The delivery worker of a server processes the due deliveries of one route (``DeliveryRoute``) in
/// three steps:
///
/// 1. ``takeDeliveries(on:dueAt:limit:lease:mergingHarder:)`` leases a batch: until the lease ends,
///    no other server sends these deliveries.
/// 2. The worker sends each push.
/// 3. ``updateDeliveries(_:)`` writes the outcomes and ends the leases.
///
/// `DeliveryService` implements and documents the methods. The protocol lets a test delay or fail the
/// calls of a delivery worker.
public protocol DeliveryQueue: Sendable {
  func deliveryRoutes() async throws -> [DeliveryRoute.ID: DeliveryRoute]
  func owedDeliveryCount() async throws -> Int
  func nextDeliveryTime(
    on route: DeliveryRoute.ID, after timestamp: Timestamp, for holder: Int64
  ) async throws -> Timestamp?
  func takeDeliveries(
    on route: DeliveryRoute.ID, dueAt timestamp: Timestamp, limit: Int, lease: DeliveryLease,
    mergingHarder: Bool
  ) async throws -> TakenDeliveries
  func reclaimDeliveries(at timestamp: Timestamp, exceptOf holder: Int64) async throws
  @discardableResult
  func updateDeliveries(_ updates: [DeliveryUpdate]) async throws -> Int
}
