import CloudKitModel

/// A way that notifications take to devices: those of one container, through one service.
public struct DeliveryRoute: Sendable, Hashable {
  public struct ID: RawRepresentable, Sendable, Hashable {
    public var rawValue: Int64

    public init(rawValue: Int64) {
      self.rawValue = rawValue
    }
  }

  public var kind: DeviceToken.Kind
  public var container: String
  public var apnsEnvironment: APNsEnvironment

  public init(kind: DeviceToken.Kind, container: String, apnsEnvironment: APNsEnvironment) {
    self.kind = kind
    self.container = container
    self.apnsEnvironment = apnsEnvironment
  }

  public init(to device: DeviceToken) {
    self.init(
      kind: device.kind, container: device.container, apnsEnvironment: device.apnsEnvironment)
  }
}

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

/// Which deliveries to a device may become one: those of the same database with the same key, of
/// which the newest counts.
///
/// Silent ones of one subscription say no more than that there is news. Those of high priority become one only
/// where the subscription asks for it by a collapse ID; others never do.
public struct DeliveryMergeKey: Sendable, Hashable {
  /// What the store keeps.
  public let text: String

  /// Nil for a subscription whose notifications are each shown by themselves.
  public init?(_ subscription: Subscription) {
    let info = subscription.notificationInfo
    if info?.isHighPriority == true {
      guard let collapseID = info?.collapseIDKey, !collapseID.isEmpty else { return nil }
      text = "c" + collapseID
    } else {
      text = Self.silentPrefix + subscription.subscriptionID
    }
  }

  /// What keys of silent notifications begin with.
  package static let silentPrefix = "s"

  public var isSilent: Bool { text.hasPrefix(Self.silentPrefix) }
}

/// A process's claim to deliveries: until it ends nobody else takes them. One whose process died is
/// there for others again when the lease ends.
public struct DeliveryLease: Sendable, Hashable {
  /// Names the process.
  public var holder: Int64
  public var until: Timestamp

  public init(holder: Int64, until: Timestamp) {
    self.holder = holder
    self.until = until
  }
}

/// Which of the deliveries that a transaction would make are written, and how many of those the process
/// takes at once. What is beyond that waits in the store.
public struct DeliveryRoom: Sendable {
  public var lease: DeliveryLease
  /// For the routes that are in use.
  public var rooms: [DeliveryRoute.ID: Int]
  /// For any other.
  public var roomOfOthers: Int
  /// Deliveries that may be written before as many wait as the server lets.
  public var unwritten: Int
  /// How many may wait for each user.
  public var backlogs: UserBacklogs
  /// Whether the server has a way to a device. To one without nothing is written. It must not block.
  public var isSetUp: @Sendable (DeviceToken) -> Bool

  public init(
    lease: DeliveryLease, rooms: [DeliveryRoute.ID: Int], roomOfOthers: Int,
    unwritten: Int = .max, backlogs: UserBacklogs = UserBacklogs(limit: .max),
    isSetUp: @escaping @Sendable (DeviceToken) -> Bool = { _ in true }
  ) {
    self.lease = lease
    self.rooms = rooms
    self.roomOfOthers = roomOfOthers
    self.unwritten = unwritten
    self.backlogs = backlogs
    self.isSetUp = isSetUp
  }
}

/// Deliveries that a process took from the store.
public struct TakenDeliveries: Sendable {
  public var deliveries: [Delivery]
  /// Those of them whose lease had ended: who had it may be sending them still. The others waited.
  public var renewed: Set<Delivery.ID>
  /// Those in whose place a newer one goes.
  public var mergedCount: Int
  /// Those whose device or log entry is gone; they are given up.
  public var lostCount: Int
  /// Whether no more were due.
  public var isAll: Bool

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

/// A push that was refused by a fault of ours, kept for those who look for the fault.
public struct RefusedPush: Sendable, Hashable {
  public var id: Delivery.ID
  public var refused: Timestamp
  /// What the service said of it.
  public var reason: String
  /// What was sent.
  public var payload: [UInt8]

  package init(id: Delivery.ID, refused: Timestamp, reason: String, payload: [UInt8]) {
    self.id = id
    self.refused = refused
    self.reason = reason
    self.payload = payload
  }
}

/// What became of a delivery.
public struct DeliveryUpdate: Sendable, Hashable {
  public enum State: Sendable, Hashable {
    /// The push was accepted. With `superseding`, older ones with the same merge key that wait in
    /// the store are merged into it.
    case delivered(superseding: DeliveryMergeKey? = nil)
    /// It will not be sent any more; the text says why.
    case abandoned(reason: String)
    /// A newer one with the same merge key goes in its place: that with this number.
    case merged(into: Int64?)
    /// It was refused by a fault of ours, and is kept with the payload that was sent.
    case refused(reason: String, payload: [UInt8])
    /// It is to be tried again; the text says what happened. Only what was sent counts as an attempt.
    case retry(at: Timestamp, reason: String, wasSent: Bool)
    /// It was not tried and waits until then; the text says why.
    case postponed(until: Timestamp, reason: String)
  }

  public var id: Delivery.ID
  public var state: State
  public var timestamp: Timestamp
  /// When set, the device's token is dropped if it was last registered before this moment.
  public var dropTokenRegisteredBefore: Timestamp?

  public init(
    id: Delivery.ID, state: State, timestamp: Timestamp,
    dropTokenRegisteredBefore: Timestamp? = nil
  ) {
    self.id = id
    self.state = state
    self.timestamp = timestamp
    self.dropTokenRegisteredBefore = dropTokenRegisteredBefore
  }
}
