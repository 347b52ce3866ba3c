/// The basis of the delay after a failed attempt.
public struct DeliveryAttempt: Sendable, Hashable {
  /// How often the push was sent before.
  public var previous: Int
  /// The number of consecutive rests of its route because of an answer. Such answers concern the
  /// route, not the push.
  public var rests: Int
  /// A number in 0 ..< 1, for the delay's random part.
  public var random: Double

  public init(previous: Int, rests: Int = 0, random: Double) {
    self.previous = previous
    self.rests = rests
    self.random = random
  }

  /// Seconds until the next attempt.
  ///
  /// - Parameter retryAfter: the seconds that the peer requested.
  func delay(
    by policy: RetryPolicy, for scope: DeliveryOutcome.RetryScope, retryAfter: Double? = nil
  ) -> Double {
    policy.delay(
      attempt: scope == .route ? rests : previous, random: random, retryAfter: retryAfter)
  }
}
