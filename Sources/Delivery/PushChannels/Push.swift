import CloudKitModel
import Foundation

/// One notification for one device, with all that APNs needs.
///
/// ```swift
/// let payload = PushPayload(notification, badge: 3, reader: .apns)
/// let push = Push(
///   notification, payload: payload, deviceToken: "9a3c…", topic: "com.example.app", issued: .now)
/// ```
///
/// Apple, *Sending notification requests to APNs*.
public struct Push: Sendable, Hashable {
  /// The type of a push (`apns-push-type`).
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// A push whose `aps` has more than `content-available`: an alert, a badge, a sound, a category
    /// or mutable content.
    case alert
    /// A push that only wakes the app.
    case background

    /// The `apns-priority`. APNs delivers a push of priority 10 at once, and a push of priority 5
    /// when the device's power permits.
    ///
    /// APNs refuses priority 10 for a push whose `aps` has only `content-available`.
    public var priority: Int {
      switch self {
      case .alert: 10
      case .background: 5
      }
    }

    /// The time in seconds for which the server and APNs try to deliver the push: a day for an
    /// alert, an hour for a push that only wakes the app.
    public var lifetime: Double {
      switch self {
      case .alert: 86_400
      case .background: 3600
      }
    }
  }

  /// The device token that APNs gave the app: hexadecimal digits in lower case.
  public var deviceToken: String
  /// The `apns-topic`: the bundle ID of the app that registered the token.
  public var topic: String
  /// The type of the push.
  public var kind: Kind
  /// The time at which the push expires, for APNs (`apns-expiration`) and for the server's own
  /// retries.
  public var expiration: Timestamp
  /// The `apns-collapse-id`; `nil` for none. Of several pushes with the same value, the device
  /// shows the newest.
  public var collapseID: String?
  /// The `apns-id`. It is the same each time the push is sent.
  public var identifier: UUID
  /// The payload.
  public var payload: PushPayload

  /// Creates the push of a notification for a device.
  ///
  /// - Parameters:
  ///   - payload: The notification's payload for APNs. Devices of the subscriber with the same
  ///     badge can share one payload.
  ///   - deviceToken: The device token, hexadecimal digits in upper or lower case.
  ///   - issued: The time from which the push's lifetime counts.
  public init(
    _ notification: SubscriptionNotification, payload: PushPayload, deviceToken: String,
    topic: String, issued: Timestamp
  ) {
    let token = deviceToken.lowercased()
    self.deviceToken = token
    self.topic = topic
    self.payload = payload
    kind = payload.kind
    expiration = issued.advanced(bySeconds: kind.lifetime)
    collapseID = notification.subscription.notificationInfo?.collapseIDKey
      .flatMap { PushIdentifier.collapseID($0) }
    identifier = PushIdentifier.apnsID(
      notificationID: notification.change.notificationID,
      subscriptionID: notification.subscription.subscriptionID,
      subscriber: notification.subscriber, deviceToken: token)
  }

  /// The `:path` of the request.
  public var path: String { Self.pathPrefix + deviceToken }

  static let pathPrefix = "/3/device/"

  /// The `apns-expiration`: whole seconds since 1970, rounded up.
  var expirationSeconds: Int64 { Int64(expiration.seconds.rounded(.up)) }

  /// The header fields of the request besides `:path` and `authorization`. Names are in lower case.
  public var headers: [(name: String, value: String)] {
    var headers = [
      (name: "apns-topic", value: topic),
      (name: "apns-push-type", value: kind.rawValue),
      (name: "apns-priority", value: String(kind.priority)),
      (name: "apns-expiration", value: String(expirationSeconds)),
      (name: "apns-id", value: identifier.uuidString.lowercased()),
    ]
    if let collapseID { headers.append((name: "apns-collapse-id", value: collapseID)) }
    return headers
  }
}
