import Foundation

/// The rule for the delay before a retry: it doubles after each failure, up to a limit.
///
/// A random part keeps clients that failed together from retrying together.
public struct RetryPolicy: Sendable, Hashable {
  /// The seconds before the first retry, without the random part.
  public var firstDelay: Double
  /// The longest delay in seconds, unless the peer itself asks for more.
  public var greatestDelay: Double

  /// Creates a policy. Both delays are in seconds.
  public init(firstDelay: Double, greatestDelay: Double) {
    self.firstDelay = firstDelay
    self.greatestDelay = greatestDelay
  }

  /// The policy when only the connection failed: 0.1 to 30 seconds.
  public static let reconnect = RetryPolicy(firstDelay: 0.1, greatestDelay: 30)
  /// The policy when the service has trouble: 1 second to 5 minutes.
  public static let service = RetryPolicy(firstDelay: 1, greatestDelay: 300)
  /// The policy when a device gets more pushes than APNs delivers: 15 seconds to 30 minutes.
  public static let device = RetryPolicy(firstDelay: 15, greatestDelay: 1800)
  /// The policy when APNs refuses provider tokens: 40 to 60 minutes. APNs accepts a new token after
  /// 20 minutes at the earliest, and the random part may halve the delay.
  public static let providerToken = RetryPolicy(firstDelay: 2400, greatestDelay: 3600)

  /// Returns the seconds until the next attempt.
  ///
  /// The delay is between half and the whole of `firstDelay` · 2^`attempt`, which is at most
  /// ``greatestDelay``. It is never less than `retryAfter`.
  ///
  /// - Parameters:
  ///   - attempt: The number of earlier retries; 0 after the first failure.
  ///   - random: A number in 0 ..< 1.
  ///   - retryAfter: The seconds that the peer requested (`Retry-After`, RFC 9110, section 10.2.3).
  ///     At most
  ///     ``greatestRetryAfter`` counts.
  public func delay(attempt: Int, random: Double, retryAfter: Double? = nil) -> Double {
    // Beyond 2^52 the delay has reached its limit anyway.
    let whole = min(greatestDelay, firstDelay * exp2(Double(min(max(attempt, 0), 52))))
    let delay = whole / 2 + whole / 2 * min(max(random, 0), 1)
    guard let retryAfter, retryAfter > delay else { return delay }
    return min(retryAfter, Self.greatestRetryAfter)
  }

  /// The longest delay in seconds that a peer can request: one day.
  public static let greatestRetryAfter: Double = 86_400
}
