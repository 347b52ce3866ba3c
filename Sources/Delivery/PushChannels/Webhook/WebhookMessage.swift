import CloudKitModel
import Cryptography
import Foundation
import OutboundHTTP
import StringTables

/// One notification for one webhook: a POST of the JSON that the web courier would return.
///
/// If the server has the app's strings, the JSON also has the texts of localised alerts. The
/// signature follows the Standard Webhooks specification.
///
/// <https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md>
public struct WebhookMessage: Sendable, Hashable {
  /// The URL of the webhook.
  public var url: OutboundURL
  /// The `webhook-id`. It is the same at each attempt.
  public var identifier: UUID
  /// The payload.
  public var payload: PushPayload

  /// Creates the message of a notification.
  ///
  /// - Parameters:
  ///   - webhook: The identifier of the webhook, from which the message's own is derived.
  ///   - strings: The app's strings, for the texts beside their keys.
  public init(
    _ notification: SubscriptionNotification, badge: Int?, url: OutboundURL, webhook: String,
    strings: PetrelStrings? = nil
  ) {
    self.url = url
    identifier = notification.deliveryID(forDevice: webhook)
    payload = PushPayload(notification, badge: badge, reader: .courier, strings: strings)
  }

  /// Returns the request to the receiver.
  ///
  /// - Parameters:
  ///   - secret: The webhook's secret.
  ///   - now: The time of the signature, `webhook-timestamp`.
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
