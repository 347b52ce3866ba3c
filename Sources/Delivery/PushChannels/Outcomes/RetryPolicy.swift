import Foundation

/// The rule for the delay before a retry. The delay doubles after each failure, up to a limit.
///
/// A random part spreads the retries of clients that failed at the same time.
public struct RetryPolicy: Sendable, Hashable {
  /// The longest delay in seconds before the first retry. The random part may halve it.
  public var firstDelay: Double
  /// The longest delay in seconds before any retry, unless the service asks for more.
  public var greatestDelay: Double

  /// Creates a policy. Both delays are in seconds.
  public init(firstDelay: Double, greatestDelay: Double) {
    self.firstDelay = firstDelay
    self.greatestDelay = greatestDelay
  }

  /// The policy when only the connection failed: up to 0.1 seconds at first, later up to 30
  /// seconds.
  public static let reconnect = RetryPolicy(firstDelay: 0.1, greatestDelay: 30)
  /// The policy when the service has trouble: up to 1 second at first, later up to 5 minutes.
  public static let service = RetryPolicy(firstDelay: 1, greatestDelay: 300)
  /// The policy when a service reports too many pushes to one device: up to 15 seconds at first,
  /// later up to 30 minutes.
  public static let device = RetryPolicy(firstDelay: 15, greatestDelay: 1800)
  /// The policy when APNs reports too many provider tokens: up to 40 minutes at first, later up to
  /// 60 minutes. APNs accepts a new token after 20 minutes at the earliest. The random part may
  /// halve 40 minutes, but not go below 20.
  public static let providerToken = RetryPolicy(firstDelay: 2400, greatestDelay: 3600)

  /// Returns the seconds until the next attempt.
  ///
  /// The policy's own delay is at most `firstDelay` · 2^`attempt` seconds, or ``greatestDelay`` if
  /// that is less. The random part makes it at least half of this. A longer `retryAfter` replaces
  /// this delay.
  ///
  /// - Parameters:
  ///   - attempt: The number of earlier retries; 0 after the first failure.
  ///   - random: A number in 0 ..< 1, which decides the random part.
  ///   - retryAfter: The seconds that the service asked for (`Retry-After`, RFC 9110, section
  ///     10.2.3); `nil` if it asked for none. A longer time than ``greatestRetryAfter`` counts as
  ///     that time.
  public func delay(attempt: Int, random: Double, retryAfter: Double? = nil) -> Double {
    // The exponent is limited, because 2^52 times the first delay is beyond any greatest delay.
    let whole = min(greatestDelay, firstDelay * exp2(Double(min(max(attempt, 0), 52))))
    let delay = whole / 2 + whole / 2 * min(max(random, 0), 1)
    guard let retryAfter, retryAfter > delay else { return delay }
    return min(retryAfter, Self.greatestRetryAfter)
  }

  /// The longest delay in seconds that a service can ask for: one day.
  public static let greatestRetryAfter: Double = 86_400
}
