import CloudKitModel
import Cryptography
import Foundation
import OutboundHTTP

/// One notification for one browser.
public struct WebPushMessage: Sendable, Hashable {
  /// `Urgency` (RFC 8030, section 5.3).
  public enum Urgency: String, Sendable, Hashable {
    case normal
    case high
  }

  public var endpoint: OutboundURL
  public var keys: WebPushKeys
  /// The `{"aps": …, "ck": …}` of the notification.
  public var payload: PushPayload
  /// When the message expires: `TTL` counts to here.
  public var expiration: Timestamp
  public var urgency: Urgency
  /// `Topic`: the push service keeps only the newest of waiting messages with the same topic.
  public var topic: String?

  /// Makes the message of a notification.
  ///
  /// A notification that APNs would get with priority 10 is urgent, and the message has the same
  /// lifetime as the push to APNs. The topic is a hash of the collapse ID and the subscriber, in 32
  /// characters of base64url, since a collapse ID may be longer and have any characters.
  ///
  /// - Parameters:
  ///   - badge: the number to show if the subscription asks for a badge.
  ///   - issued: the time from which the message's lifetime is counted.
  public init(
    _ notification: SubscriptionNotification, badge: Int?, endpoint: OutboundURL,
    keys: WebPushKeys, issued: Timestamp
  ) {
    self.endpoint = endpoint
    self.keys = keys
    payload = PushPayload(notification, badge: badge, reader: .webPush)
    expiration = issued.advanced(bySeconds: payload.kind.lifetime)
    urgency = payload.kind == .alert ? .high : .normal
    topic = notification.subscription.notificationInfo?.collapseIDKey.flatMap { key in
      key.isEmpty
        ? nil
        : Base64URL.encode(
          SHA256.hash(notification.subscriber.utf8 + [0] + key.utf8).prefix(24))
    }
  }

  /// The request to the push service.
  ///
  /// - Parameter authorization: the value of the header field.
  func request(
    authorization: String, at now: Timestamp
  ) throws(CryptographyError) -> OutboundRequest {
    let timeToLive = max(0, Int64((expiration.seconds - now.seconds).rounded(.up)))
    var headers = [
      (name: "TTL", value: String(timeToLive)),
      (name: "Urgency", value: urgency.rawValue),
      (name: "Content-Encoding", value: "aes128gcm"),
      (name: "Content-Type", value: "application/octet-stream"),
      (name: "Authorization", value: authorization),
    ]
    if let topic { headers.append((name: "Topic", value: topic)) }
    return OutboundRequest(
      url: endpoint, headers: headers,
      body: try WebPushEncryption.body(for: payload.bytes, to: keys))
  }
}
