import CloudKitModel
import OutboundHTTP

/// The sender of messages to the webhooks of programs. Any thread may use it.
public final class WebhookSender: Sendable {
  /// The HTTP client.
  private let client: HTTPClient
  /// The clock for signatures and for `Retry-After` header fields with a date.
  private let clock: @Sendable () -> Timestamp

  /// Creates a sender.
  public init(
    client: HTTPClient, clock: @escaping @Sendable () -> Timestamp = { .now }
  ) {
    self.client = client
    self.clock = clock
  }

  /// Sends a message and calls the completion once. The method does not block.
  ///
  /// - Parameters:
  ///   - secret: The webhook's secret, which signs the message.
  ///   - attempt: The number of earlier attempts to send the message.
  ///   - random: A number in 0 ..< 1 for the random part of delays.
  public func send(
    _ message: WebhookMessage, signedWith secret: WebhookSecret, attempt: Int, random: Double,
    completion: @escaping @Sendable (WebDeliveryResult) -> Void
  ) {
    let peer = "the webhook's receiver \(message.url.origin)"
    client.send(message.request(signedWith: secret, at: clock())) { [clock] result in
      completion(
        WebDeliveryResult(
          result, of: peer, by: WebAnswerRule.webhook, attempt: attempt, random: random,
          now: clock()))
    }
  }
}
