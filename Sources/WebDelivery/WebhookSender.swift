import CloudKitModel
import OutboundHTTP
import PushDelivery

/// Posts notifications to the webhooks of programs.
public final class WebhookSender: Sendable {
  private let client: HTTPClient
  private let clock: @Sendable () -> Timestamp
  private let random: @Sendable () -> Double

  public init(
    client: HTTPClient, clock: @escaping @Sendable () -> Timestamp = { .now },
    random: @escaping @Sendable () -> Double = { Double.random(in: 0..<1) }
  ) {
    self.client = client
    self.clock = clock
    self.random = random
  }

  /// Sends a message and calls back once, without blocking.
  ///
  /// - Parameter attempt: how often it was sent before.
  public func send(
    _ message: WebhookMessage, signedWith secret: WebhookSecret, attempt: Int,
    completion: @escaping @Sendable (WebDeliveryResult) -> Void
  ) {
    let peer = "the webhook's receiver \(message.url.origin)"
    client.send(message.request(signedWith: secret, at: clock())) { [clock, random] result in
      completion(
        WebDeliveryResult(
          result, of: peer, by: WebAnswerRule.webhook, attempt: attempt, random: random(),
          now: clock()))
    }
  }
}
