/// The numbers from which the delay after a failed attempt to deliver a push is computed.
public struct DeliveryAttempt: Sendable, Hashable {
  /// The number of earlier attempts to send the push.
  public var previous: Int
  /// The number of times in a row that an answer has made the server stop sending on the whole
  /// route for a while. Such an answer concerns the route, not the push.
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
  ///   - scope: The pushes that the delay concerns. For a route, the delay grows with ``rests``;
  ///     otherwise it grows with ``previous``.
  ///   - retryAfter: The seconds that the service asked for; `nil` if it asked for none.
  func delay(
    by policy: RetryPolicy, for scope: DeliveryOutcome.RetryScope, retryAfter: Double? = nil
  ) -> Double {
    policy.delay(
      attempt: scope == .route ? rests : previous, random: random, retryAfter: retryAfter)
  }
}
