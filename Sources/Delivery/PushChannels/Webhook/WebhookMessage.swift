import CloudKitModel
import Cryptography
import Foundation
import OutboundHTTP
import StringTables

/// One notification for one webhook: a POST of the JSON that the web courier would return, with the
/// texts of the app's strings if the server has them, signed according to the Standard Webhooks
/// specification.
///
/// <https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md>
public struct WebhookMessage: Sendable, Hashable {
  public var url: OutboundURL
  /// `webhook-id`: the same at each attempt.
  public var identifier: UUID
  public var payload: PushPayload

  /// - Parameters:
  ///   - webhook: the identifier of the webhook, from which the message's own is derived.
  ///   - strings: the app's strings, for the texts beside their keys.
  public init(
    _ notification: SubscriptionNotification, badge: Int?, url: OutboundURL, webhook: String,
    strings: PetrelStrings? = nil
  ) {
    self.url = url
    identifier = notification.deliveryID(forDevice: webhook)
    payload = PushPayload(notification, badge: badge, reader: .courier, strings: strings)
  }

  /// The request to the receiver.
  ///
  /// - Parameter secret: the webhook's secret.
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
