import CloudKitModel

/// APNs' two environments. They are independent of the container's environment.
public enum APNsEnvironment: String, Sendable, Hashable, CaseIterable {
  case development
  case production
}

/// A target of a user's notifications in a container: a device's APNs token, the token of a web
/// courier reader, a browser's push subscription, or a program's webhook.
///
/// Like ``CloudKitModel/SubscriptionNotification`` it is copied often, and is therefore one
/// reference.
public struct DeviceToken: Sendable, Hashable {
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    case apns
    case courier
    case webPush
    case webhook

    /// Whether notifications are sent to the devices; readers of the courier come for theirs.
    public var isPushed: Bool { self != .courier }

    /// Whether waiting deliveries to the same device may be merged. A webhook gets every
    /// notification.
    public var mergesDeliveries: Bool { self != .webhook }
  }

  private struct Content: Sendable, Hashable {
    var kind: Kind
    var token: String
    var container: String
    var environment: ContainerEnvironment
    var apnsEnvironment: APNsEnvironment
    var userRecordName: String
    var deviceID: String?
    var registered: Timestamp
    var expires: Timestamp?
    var endpoint: WebEndpoint?
  }

  private final class Box: Sendable {
    let content: Content

    init(_ content: Content) {
      self.content = content
    }
  }

  private var box: Box

  public var kind: Kind { box.content.kind }
  /// For APNs, hexadecimal digits in lower case. For the courier, the name that the server derives
  /// from a hash of the reader's credential. For the others, a name that ``WebEndpoint`` makes,
  /// which no APNs token can equal.
  public var token: String { box.content.token }
  public var container: String { box.content.container }
  public var environment: ContainerEnvironment { box.content.environment }
  public var apnsEnvironment: APNsEnvironment { box.content.apnsEnvironment }
  /// The owner's user record name.
  public var userRecordName: String {
    get { box.content.userRecordName }
    set { change { $0.userRecordName = newValue } }
  }
  /// The client's name for its device, by which the server recognises the device's own changes.
  public var deviceID: String? {
    get { box.content.deviceID }
    set { change { $0.deviceID = newValue } }
  }
  public var registered: Timestamp {
    get { box.content.registered }
    set { change { $0.registered = newValue } }
  }
  /// When the token expires; nil for device tokens, which APNs retires.
  public var expires: Timestamp? { box.content.expires }
  /// The endpoint, for `.webPush` and `.webhook`.
  public var endpoint: WebEndpoint? { box.content.endpoint }

  public init(
    kind: Kind, token: String, container: String, environment: ContainerEnvironment,
    apnsEnvironment: APNsEnvironment, userRecordName: String, deviceID: String?,
    registered: Timestamp, expires: Timestamp? = nil, endpoint: WebEndpoint? = nil
  ) {
    box = Box(
      Content(
        kind: kind, token: token, container: container, environment: environment,
        apnsEnvironment: apnsEnvironment, userRecordName: userRecordName, deviceID: deviceID,
        registered: registered, expires: expires, endpoint: endpoint))
  }

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
