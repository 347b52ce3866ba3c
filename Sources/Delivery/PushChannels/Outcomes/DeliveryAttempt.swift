/// The numbers that decide the delay after a failed attempt.
public struct DeliveryAttempt: Sendable, Hashable {
  /// The number of earlier attempts to send the push.
  public var previous: Int
  /// The number of consecutive rests of the route because of an answer. Such answers concern the
  /// route, not the push.
  public var rests: Int
  /// A number in 0 ..< 1 for the random part of the delay.
  public var random: Double

  /// Creates the numbers of an attempt.
  public init(previous: Int, rests: Int = 0, random: Double) {
    self.previous = previous
    self.rests = rests
    self.random = random
  }

  /// Returns the seconds until the next attempt.
  ///
  /// - Parameters:
  ///   - scope: The scope of the delay. For a route, the delay grows with the rests; otherwise,
  ///     with the
  ///     attempts of the push.
  ///   - retryAfter: The seconds that the peer requested; `nil` if it requested none.
  func delay(
    by policy: RetryPolicy, for scope: DeliveryOutcome.RetryScope, retryAfter: Double? = nil
  ) -> Double {
    policy.delay(
      attempt: scope == .route ? rests : previous, random: random, retryAfter: retryAfter)
  }
}
