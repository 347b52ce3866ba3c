import CloudKitModel
import Cryptography
import Foundation
import OutboundHTTP

/// One notification for one browser.
public struct WebPushMessage: Sendable, Hashable {
  /// The `Urgency` of a message (RFC 8030, section 5.3).
  public enum Urgency: String, Sendable, Hashable {
    /// The urgency of a message that only wakes the page's worker.
    case normal
    /// The urgency of a message that shows something.
    case high
  }

  /// The URL of the browser at its push service.
  public var endpoint: OutboundURL
  /// The browser's encryption keys.
  public var keys: WebPushKeys
  /// The payload, `{"aps": …, "ck": …}`.
  public var payload: PushPayload
  /// The time at which the message expires. `TTL` is the time until then.
  public var expiration: Timestamp
  /// The urgency.
  public var urgency: Urgency
  /// The `Topic`; `nil` for none. Of the waiting messages with the same topic, the push service
  /// keeps only the newest.
  public var topic: String?

  /// Creates the message of a notification.
  ///
  /// A notification that APNs would get with priority 10 has high urgency. The lifetime is that of
  /// the push to APNs.
  ///
  /// The topic is a hash of the collapse ID and the subscriber, in 32 characters of base64url. A
  /// topic may have no other characters and no more (RFC 8030, section 5.4), and a collapse ID may.
  ///
  /// - Parameters:
  ///   - badge: The number to show if the subscription asks for a badge.
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
  /// - Parameter authorization: The value of the `Authorization` header field.
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
