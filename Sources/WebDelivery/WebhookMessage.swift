import CloudKitModel
import Cryptography
import Foundation
import OutboundHTTP
import PushDelivery

/// One notification for one webhook: a POST of the JSON that the web courier would give, signed as
/// the Standard Webhooks specification says.
///
/// <https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md>
public struct WebhookMessage: Sendable, Hashable {
  public var url: OutboundURL
  /// `webhook-id`: the same however often the message is sent.
  public var identifier: UUID
  public var payload: PushPayload
  /// When the message is given up.
  public var expiration: Timestamp

  /// A day, in seconds. A program that was down for long reads the notification log.
  public static let lifetime = 86_400.0

  /// - Parameters:
  ///   - webhook: the identifier of the webhook, which makes the message's own.
  ///   - issued: from when the message's lifetime is counted.
  public init(
    _ notification: SubscriptionNotification, badge: Int?, url: OutboundURL, webhook: String,
    issued: Timestamp
  ) {
    self.url = url
    identifier = notification.deliveryID(forDevice: webhook)
    payload = PushPayload(notification, badge: badge, form: .courier)
    expiration = issued.advanced(bySeconds: Self.lifetime)
  }

  /// The request to the receiver.
  ///
  /// - Parameter secret: the webhook's.
  func request(signedWith secret: WebhookSecret, at now: Timestamp) -> OutboundRequest {
    let id = identifier.uuidString.lowercased()
    let time = String(Int64(now.seconds.rounded(.down)))
    return OutboundRequest(
      url: url,
      headers: [
        (name: "Content-Type", value: "application/json"),
        (name: "webhook-id", value: id),
        (name: "webhook-timestamp", value: time),
        (
          name: "webhook-signature",
          value: secret.signature(ofMessage: id, sentAt: time, body: payload.bytes)
        ),
      ], body: payload.bytes)
  }
}
