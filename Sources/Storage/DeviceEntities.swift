import CloudKitModel

/// APNs' two environments. They are independent of the container's environment.
public enum APNsEnvironment: String, Sendable, Hashable, CaseIterable {
  case development
  case production
}

/// Where notifications of a user in a container go: a device's APNs token, or the token of a web
/// courier reader.
public struct DeviceToken: Sendable, Hashable {
  public enum Kind: String, Sendable, Hashable {
    case apns
    case courier
  }

  public var kind: Kind
  /// Hexadecimal digits in lower case for APNs; base64 for the courier.
  public var token: String
  public var container: String
  public var environment: ContainerEnvironment
  public var apnsEnvironment: APNsEnvironment
  /// The owner's user record name.
  public var userRecordName: String
  /// The name that the client gave for its device, by which its own changes are recognised.
  public var deviceID: String?
  public var registered: Timestamp
  /// After this moment the token is dead; nil for device tokens, which APNs retires.
  public var expires: Timestamp?

  public init(
    kind: Kind, token: String, container: String, environment: ContainerEnvironment,
    apnsEnvironment: APNsEnvironment, userRecordName: String, deviceID: String?,
    registered: Timestamp, expires: Timestamp? = nil
  ) {
    self.kind = kind
    self.token = token
    self.container = container
    self.environment = environment
    self.apnsEnvironment = apnsEnvironment
    self.userRecordName = userRecordName
    self.deviceID = deviceID
    self.registered = registered
    self.expires = expires
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
  public var notification: SubscriptionNotification
  public var device: DeviceToken
  /// The device's badge after this notification; nil when the subscription does not ask for one.
  public var badge: Int?
  /// When the notification was logged.
  public var logged: Timestamp
  /// Attempts that were made so far.
  public var attempts: Int
  /// Not before this moment.
  public var due: Timestamp

  public init(
    id: ID, notification: SubscriptionNotification, device: DeviceToken, badge: Int?,
    logged: Timestamp, attempts: Int = 0, due: Timestamp
  ) {
    self.id = id
    self.notification = notification
    self.device = device
    self.badge = badge
    self.logged = logged
    self.attempts = attempts
    self.due = due
  }
}

/// What an attempt at a delivery led to.
public struct DeliveryUpdate: Sendable, Hashable {
  public enum State: Sendable, Hashable {
    /// The push was accepted.
    case delivered
    /// It will not be sent any more; the text says why.
    case abandoned(reason: String)
    /// It is to be tried again; the text says what happened.
    case retry(at: Timestamp, reason: String)
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

/// The next notification for a reader of the web courier.
public struct CourierEntry: Sendable, Hashable {
  public var entry: LogEntry
  /// The reader's badge with this notification; nil when the subscription does not ask for one.
  public var badge: Int?

  public init(entry: LogEntry, badge: Int?) {
    self.entry = entry
    self.badge = badge
  }
}
