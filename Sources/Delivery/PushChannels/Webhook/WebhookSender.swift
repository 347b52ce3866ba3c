import CloudKitModel
import OutboundHTTP

/// Posts notifications to the webhooks of programs.
public final class WebhookSender: Sendable {
  private let client: HTTPClient
  private let clock: @Sendable () -> Timestamp

  public init(
    client: HTTPClient, clock: @escaping @Sendable () -> Timestamp = { .now }
  ) {
    self.client = client
    self.clock = clock
  }

  /// Sends a message and calls back once, without blocking.
  ///
  /// - Parameters:
  ///   - attempt: how often it was sent before.
  ///   - random: a number in 0 ..< 1, for the random part of delays.
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
