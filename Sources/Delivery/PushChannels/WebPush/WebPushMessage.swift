import CloudKitModel
import Cryptography
import Foundation
import OutboundHTTP

/// The message with one notification for one browser.
public struct WebPushMessage: Sendable, Hashable {
  /// The `Urgency` of a message (RFC 8030, section 5.3).
  public enum Urgency: String, Sendable, Hashable {
    /// The urgency of a message that shows nothing and only wakes the page's service worker.
    case normal
    case high
  }

  /// The URL of the browser at its push service.
  public var endpoint: OutboundURL
  /// The browser's encryption keys.
  public var keys: WebPushKeys
  /// The payload, `{"aps": …, "ck": …}`.
  public var payload: PushPayload
  /// The time at which the message expires. The header field `TTL` has the seconds until then.
  public var expiration: Timestamp
  /// The urgency.
  public var urgency: Urgency
  /// The `Topic` header field; `nil` for none. Of several waiting messages with the same topic, the
  /// push service keeps only the newest.
  public var topic: String?

  /// Creates the message of a notification.
  ///
  /// A notification that APNs would get with priority 10 has the urgency ``Urgency/high``. The
  /// lifetime is the same as for a push to APNs (``Push/Kind/lifetime``).
  ///
  /// The topic is a hash of the collapse ID and the subscriber, because a collapse ID itself may
  /// not be a valid topic. A topic has at most 32 characters, all of them from base64url (RFC 8030,
  /// section 5.4).
  ///
  /// - Parameters:
  ///   - badge: The number to show if the subscription asks for a badge; `nil` to send no number.
  ///   - issued: The time from which the message's lifetime counts.
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

  /// Returns the request to the push service.
  ///
  /// - Parameters:
  ///   - authorization: The value of the `Authorization` header field, with the VAPID token.
  ///   - now: The present time, from which `TTL` counts.
  /// - Throws: `CryptographyError` if the encryption fails.
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
