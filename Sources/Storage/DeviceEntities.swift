import CloudKitModel

/// APNs' two environments. They are independent of the container's environment.
public enum APNsEnvironment: String, Sendable, Hashable, CaseIterable {
  case development
  case production
}

/// Where notifications of a user in a container go: a device's APNs token, the token of a web
/// courier reader, a browser's push subscription, or a program's webhook.
public struct DeviceToken: Sendable, Hashable {
  public enum Kind: String, Sendable, Hashable {
    case apns
    case courier
    case webPush
    case webhook

    /// Whether deliveries that wait for the same device may become one. A program is told of
    /// everything.
    public var mergesDeliveries: Bool { self != .webhook }
  }

  public var kind: Kind
  /// Hexadecimal digits in lower case for APNs; base64 for the courier; for the others a name that
  /// ``WebEndpoint`` makes, of which no APNs token has the form.
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
  /// Where to send to, for `.webPush` and `.webhook`.
  public var endpoint: WebEndpoint?

  public init(
    kind: Kind, token: String, container: String, environment: ContainerEnvironment,
    apnsEnvironment: APNsEnvironment, userRecordName: String, deviceID: String?,
    registered: Timestamp, expires: Timestamp? = nil, endpoint: WebEndpoint? = nil
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
    self.endpoint = endpoint
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
