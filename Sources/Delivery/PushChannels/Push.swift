import CloudKitModel
import Foundation

/// One notification for one device, with everything that APNs needs besides the payload.
///
/// ```swift
/// let payload = PushPayload(notification, badge: 3, reader: .apns)
/// let push = Push(
///   notification, payload: payload, deviceToken: "9a3c…", topic: "com.example.app", issued: .now)
/// ```
///
/// Apple, *Sending notification requests to APNs*.
public struct Push: Sendable, Hashable {
  /// `apns-push-type`.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// `aps` has more than `content-available`: an alert, a badge, a sound, a category or mutable content.
    case alert
    /// Only wakes the app.
    case background

    /// `apns-priority`: 10 is delivered at once; 5 is delivered when it suits the device's power.
    public var priority: Int {
      switch self {
      case .alert: 10
      case .background: 5
      }
    }

    /// How long APNs may keep the push for an unreachable device, in seconds: a day for a visible
    /// push, an hour for a silent one.
    public var lifetime: Double {
      switch self {
      case .alert: 86_400
      case .background: 3600
      }
    }
  }

  /// Hexadecimal digits, in lower case.
  public var deviceToken: String
  /// `apns-topic`: the bundle ID of the app that registered the token.
  public var topic: String
  public var kind: Kind
  /// When the push expires, for APNs (`apns-expiration`) and for the server's own retries.
  public var expiration: Timestamp
  /// `apns-collapse-id`: of several pushes with the same value, the device shows the newest.
  public var collapseID: String?
  /// `apns-id`: the same however often the push is sent.
  public var identifier: UUID
  public var payload: PushPayload

  /// Makes the push of `notification` for a device.
  ///
  /// - Parameters:
  ///   - payload: the notification's payload in the format for APNs. It does not depend on the
  ///     device, so it can be made once for all devices of the subscriber.
  ///   - issued: the time from which the push's lifetime is counted.
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

  /// `:path` of the request.
  public var path: String { Self.pathPrefix + deviceToken }

  static let pathPrefix = "/3/device/"

  /// `apns-expiration`: whole seconds since 1970, rounded up.
  var expirationSeconds: Int64 { Int64(expiration.seconds.rounded(.up)) }

  /// The request's headers besides `:path` and `authorization`, names in lower case.
  ///
  /// `apns-expiration` is in whole seconds, rounded up.
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
