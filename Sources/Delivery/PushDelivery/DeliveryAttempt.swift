/// What the delay after a failed attempt goes by.
public struct DeliveryAttempt: Sendable, Hashable {
  /// How often the push was sent before.
  public var previous: Int
  /// How often in a row its route came to rest by an answer: what concerns the route says nothing of
  /// the push.
  public var rests: Int
  /// A number in 0 ..< 1, for the delay's random part.
  public var random: Double

  public init(previous: Int, rests: Int = 0, random: Double) {
    self.previous = previous
    self.rests = rests
    self.random = random
  }

  /// Seconds until the next try.
  ///
  /// - Parameter retryAfter: the seconds that the peer asked for.
  func delay(
    by policy: RetryPolicy, for scope: DeliveryOutcome.RetryScope, retryAfter: Double? = nil
  ) -> Double {
    policy.delay(
      attempt: scope == .route ? rests : previous, random: random, retryAfter: retryAfter)
  }
}
