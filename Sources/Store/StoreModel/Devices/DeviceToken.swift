import CloudKitModel

/// The two environments of APNs. They are independent of the container's environment.
public enum APNsEnvironment: String, Sendable, Hashable, CaseIterable {
  /// The environment for development builds of an app.
  case development
  /// The environment for apps from TestFlight and the App Store.
  case production
}

/// A target of a user's notifications in a container: a device's APNs token, the token of a web
/// courier reader, a browser's push subscription, or a program's webhook.
///
/// Code copies tokens often. A value therefore has only a reference to its contents, and copies of
/// the value share the contents. `SubscriptionNotification` does the same.
public struct DeviceToken: Sendable, Hashable {
  /// The kind of a target. The store has the raw values in its tables, so they never change.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// A device of Apple's, which gets pushes through APNs.
    case apns
    /// A reader of the web courier, which polls the server for its notifications.
    case courier
    /// A browser's push subscription (RFC 8030).
    case webPush
    /// A webhook: the URL of a program, to which the server posts notifications.
    case webhook

    /// Whether the server sends notifications to targets of this kind. False for readers of the
    /// courier, which poll the server.
    public var isPushed: Bool { self != .courier }

    /// Whether waiting deliveries to the same target may be merged (``DeliveryMergeKey``). False
    /// for webhooks, which get every notification.
    public var mergesDeliveries: Bool { self != .webhook }
  }

  /// The note that the push service refused the device since its last registration.
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

  /// The memory that copies of a token share. It never changes.
  private final class Box: Sendable {
    let content: Content

    init(_ content: Content) {
      self.content = content
    }
  }

  private var box: Box

  /// The kind of the target.
  public var kind: Kind { box.content.kind }
  /// The text that identifies the target among those of its kind; it may be registered in several
  /// containers. For APNs, hexadecimal digits in
  /// lower case. For the courier, a name that the server computes from a hash of the reader's
  /// credential. For browsers and webhooks, a name from ``WebEndpoint/token(kind:digest:)``.
  public var token: String { box.content.token }
  /// The container whose notifications the target gets.
  public var container: String { box.content.container }
  /// The environment of the container.
  public var environment: ContainerEnvironment { box.content.environment }
  /// The APNs environment of an APNs token, or of the courier reader's registration. Browsers and
  /// webhooks have `.production`.
  public var apnsEnvironment: APNsEnvironment { box.content.apnsEnvironment }
  /// The bundle ID of the app that registered an APNs token: the topic of its pushes. Nil if the
  /// registration names none; the pushes then have the first topic of the container.
  public var bundleID: String? { box.content.bundleID }
  /// The owner's user record name.
  public var userRecordName: String {
    get { box.content.userRecordName }
    set { change { $0.userRecordName = newValue } }
  }
  /// The client's name for its device; nil if the client sent none. By this name the server
  /// recognizes changes that the device itself made.
  public var deviceID: String? {
    get { box.content.deviceID }
    set { change { $0.deviceID = newValue } }
  }
  /// The sign-in under which the token was registered (``WebAuthToken/signIn``); nil if the request had
  /// no web auth token. The registration ends with the sign-in.
  public var signIn: [UInt8]? {
    get { box.content.signIn }
    set { change { $0.signIn = newValue } }
  }
  /// The time of the last registration of the token.
  public var registered: Timestamp {
    get { box.content.registered }
    set { change { $0.registered = newValue } }
  }
  /// The time at which the token expires; nil for APNs tokens. APNs reports when such a token is no
  /// longer valid.
  public var expires: Timestamp? { box.content.expires }
  /// The URL and secrets of a browser or a webhook; nil for the other kinds.
  public var endpoint: WebEndpoint? { box.content.endpoint }
  /// The note that the push service refused the device; nil after a registration, and after a push
  /// that the service accepted.
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

  /// Replaces the shared contents by a changed copy. Other values that share the old contents stay
  /// the same.
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

/// The identity of a registration: a kind, a token, and the container and environment whose
/// notifications the device gets. One token may be registered in several containers.
public struct DeviceName: Sendable, Hashable {
  /// The kind of the device.
  public var kind: DeviceToken.Kind
  /// The device's token: see ``DeviceToken/token``.
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
  /// The secrets with which the server encrypts messages to a browser, or signs messages to a
  /// program.
  public var secrets: [UInt8]

  /// Creates an endpoint. The URL is not checked.
  public init(url: String, secrets: [UInt8]) {
    self.url = url
    self.secrets = secrets
  }

  /// Returns the token for a browser or a webhook, such as `webPush-5f3a…`.
  ///
  /// An APNs token has only hexadecimal digits, so it never equals such a text. The token alone
  /// therefore identifies a device, without the kind.
  ///
  /// - Parameter digest: a hash that differs between endpoints, in letters and digits.
  public static func token(kind: DeviceToken.Kind, digest: String) -> String {
    "\(kind.rawValue)-\(digest)"
  }
}
