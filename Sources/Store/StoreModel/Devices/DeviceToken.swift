import CloudKitModel

/// The two environments of APNs. They are independent of the container's environment.
public enum APNsEnvironment: String, Sendable, Hashable, CaseIterable {
  case development
  case production
}

/// A target of a user's notifications in a container: a device's APNs token, the token of a web
/// courier reader, a browser's push subscription, or a program's webhook.
///
/// Values are copied often, so copies share their contents, as those of `SubscriptionNotification`
/// do.
public struct DeviceToken: Sendable, Hashable {
  /// The kind of a target. The store has the raw values in its tables, so they never change.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    case apns
    case courier
    /// RFC 8030.
    case webPush
    case webhook

    /// Whether the server sends notifications to such targets. Courier readers poll.
    public var isPushed: Bool { self != .courier }

    /// Whether waiting deliveries to a target may be merged (``DeliveryMergeKey``). Webhooks get
    /// every notification.
    public var mergesDeliveries: Bool { self != .webhook }
  }

  /// The push service's refusal of the device since its last registration.
  public struct Refusal: Sendable, Hashable {
    /// The time of the first refusal in a row.
    public var since: Timestamp
    /// The topic for which APNs refused the token; nil for the other kinds.
    public var topic: String?

    /// Creates a note.
    public init(since: Timestamp, topic: String? = nil) {
      self.since = since
      self.topic = topic
    }
  }

  /// The contents of a token.
  private struct Content: Sendable, Hashable {
    var kind: Kind
    var token: String
    var container: String
    var environment: ContainerEnvironment
    var apnsEnvironment: APNsEnvironment
    var bundleID: String?
    var userRecordName: String
    var deviceID: String?
    var signIn: [UInt8]?
    var registered: Timestamp
    var expires: Timestamp?
    var endpoint: WebEndpoint?
    var refusal: Refusal?
  }

  /// The memory that copies of a token share, which never changes.
  private final class Box: Sendable {
    let content: Content

    init(_ content: Content) {
      self.content = content
    }
  }

  private var box: Box

  /// The kind of the target.
  public var kind: Kind { box.content.kind }
  /// The text that identifies the target among those of its kind, possibly in several containers.
  /// For APNs, hexadecimal digits in lower case. For the courier, a name computed from a hash of
  /// the reader's credential. For browsers and webhooks, a name from
  /// ``WebEndpoint/token(kind:digest:)``.
  public var token: String { box.content.token }
  /// The container whose notifications the target gets.
  public var container: String { box.content.container }
  /// The environment of the container.
  public var environment: ContainerEnvironment { box.content.environment }
  /// The APNs environment of an APNs token, or of the courier reader's registration. Browsers and
  /// webhooks have `.production`.
  public var apnsEnvironment: APNsEnvironment { box.content.apnsEnvironment }
  /// The topic of the pushes: the bundle ID of the registering app. nil stands for the first topic
  /// of the container.
  public var bundleID: String? { box.content.bundleID }
  /// The owner's user record name.
  public var userRecordName: String {
    get { box.content.userRecordName }
    set { change { $0.userRecordName = newValue } }
  }
  /// The client's name for its device, if it sent one. By this name the server recognizes changes
  /// that the device itself made.
  public var deviceID: String? {
    get { box.content.deviceID }
    set { change { $0.deviceID = newValue } }
  }
  /// The sign-in of the registration (``WebAuthToken/signIn``), with which the registration ends;
  /// nil if the request had no web auth token.
  public var signIn: [UInt8]? {
    get { box.content.signIn }
    set { change { $0.signIn = newValue } }
  }
  /// The time of the last registration of the token.
  public var registered: Timestamp {
    get { box.content.registered }
    set { change { $0.registered = newValue } }
  }
  /// The time of the expiry; nil for APNs tokens, whose end APNs reports.
  public var expires: Timestamp? { box.content.expires }
  /// The URL and secrets of a browser or a webhook; nil for other kinds.
  public var endpoint: WebEndpoint? { box.content.endpoint }
  /// The refusal; nil after a registration, and after a push that the service accepted.
  public var refusal: Refusal? { box.content.refusal }

  /// Creates a token with its contents. Texts are not checked.
  public init(
    kind: Kind, token: String, container: String, environment: ContainerEnvironment,
    apnsEnvironment: APNsEnvironment, bundleID: String? = nil, userRecordName: String,
    deviceID: String?, signIn: [UInt8]? = nil, registered: Timestamp, expires: Timestamp? = nil,
    endpoint: WebEndpoint? = nil, refusal: Refusal? = nil
  ) {
    box = Box(
      Content(
        kind: kind, token: token, container: container, environment: environment,
        apnsEnvironment: apnsEnvironment, bundleID: bundleID, userRecordName: userRecordName,
        deviceID: deviceID, signIn: signIn, registered: registered, expires: expires,
        endpoint: endpoint, refusal: refusal))
  }

  /// Other values that share the contents stay the same.
  private mutating func change(_ body: (inout Content) -> Void) {
    var content = box.content
    body(&content)
    box = Box(content)
  }

  public static func == (left: DeviceToken, right: DeviceToken) -> Bool {
    left.box === right.box || left.box.content == right.box.content
  }

  public func hash(into hasher: inout Hasher) {
    hasher.combine(box.content)
  }
}

/// The identity of a registration. One token may be registered in several containers.
public struct DeviceName: Sendable, Hashable {
  /// The kind of the device.
  public var kind: DeviceToken.Kind
  /// The device's ``DeviceToken/token``.
  public var token: String
  /// The container whose notifications the device gets.
  public var container: String
  /// The environment of the container.
  public var environment: ContainerEnvironment

  /// Creates the identity of a registration, which need not exist.
  public init(
    kind: DeviceToken.Kind, token: String, container: String, environment: ContainerEnvironment
  ) {
    self.kind = kind
    self.token = token
    self.container = container
    self.environment = environment
  }
}

extension DeviceToken {
  /// The identity of the registration.
  public var name: DeviceName {
    DeviceName(kind: kind, token: token, container: container, environment: environment)
  }
}

/// The URL to which a browser's or a program's notifications are posted.
public struct WebEndpoint: Sendable, Hashable {
  /// The absolute URL.
  public var url: String
  /// The secrets that encrypt messages to a browser, or sign messages to a program.
  public var secrets: [UInt8]

  /// Creates an endpoint. The URL is not checked.
  public init(url: String, secrets: [UInt8]) {
    self.url = url
    self.secrets = secrets
  }

  /// The token for a browser or a webhook, such as `webPush-5f3a…`. It never equals an APNs token,
  /// which is hexadecimal, so a token identifies a device without the kind.
  ///
  /// - Parameter digest: a hash that differs between endpoints, in letters and digits.
  public static func token(kind: DeviceToken.Kind, digest: String) -> String {
    "\(kind.rawValue)-\(digest)"
  }
}
