import CloudKitModel
import Cryptography
import Foundation
import OutboundHTTP
import StringTables

/// The message with one notification for one webhook: a POST of JSON. A reader of the web courier,
/// the URL at which programs wait for notifications, would get the same JSON.
///
/// Only for webhooks, the JSON also has the texts of localised alerts, if the server has the app's
/// strings. The signature follows the Standard Webhooks specification.
///
/// <https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md>
public struct WebhookMessage: Sendable, Hashable {
  /// The URL of the webhook.
  public var url: OutboundURL
  /// The `webhook-id` header field. It is the same at each attempt to send the message.
  public var identifier: UUID
  /// The payload.
  public var payload: PushPayload

  /// Creates the message of a notification.
  ///
  /// - Parameters:
  ///   - badge: The number to show if the subscription asks for a badge; `nil` to send no number.
  ///   - webhook: The identifier of the webhook. The ``identifier`` of the message is derived from
  ///     it.
  ///   - strings: The app's localised strings; `nil` if the server does not have them.
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
  ///   - secret: The webhook's secret, which signs the message.
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

  /// Sends the message and calls the completion once. The method does not block.
  ///
  /// - Parameters:
  ///   - secret: The webhook's secret, which signs the message.
  ///   - clock: The clock for the signature, and for a `Retry-After` header field with a date.
  func send(
    over client: HTTPClient, signedWith secret: WebhookSecret,
    clock: @escaping @Sendable () -> Timestamp = { .now },
    completion: @escaping PushRoute.Completion
  ) {
    client.send(request(signedWith: secret, at: clock())) { [url, payload] result in
      completion(
        PushAnswer(
          result, of: "the webhook's receiver \(url.origin)", by: .webhook, payload: payload,
          now: clock()))
    }
  }
}
