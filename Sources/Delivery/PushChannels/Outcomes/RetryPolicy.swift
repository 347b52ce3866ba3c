import Foundation

/// The delay before a retry: it doubles after each failure, up to a limit. A random part keeps
/// clients that failed together from retrying together.
public struct RetryPolicy: Sendable, Hashable {
  /// Seconds before the first retry, without the random part.
  public var firstDelay: Double
  /// The longest delay in seconds, unless the peer itself asks for more.
  public var greatestDelay: Double

  public init(firstDelay: Double, greatestDelay: Double) {
    self.firstDelay = firstDelay
    self.greatestDelay = greatestDelay
  }

  /// Only the connection failed: soon, but not in a tight loop.
  public static let reconnect = RetryPolicy(firstDelay: 0.1, greatestDelay: 30)
  /// The service has trouble.
  public static let service = RetryPolicy(firstDelay: 1, greatestDelay: 300)
  /// A device gets more pushes than APNs delivers.
  public static let device = RetryPolicy(firstDelay: 15, greatestDelay: 1800)
  /// APNs refuses provider tokens; it accepts a new one after 20 minutes at the earliest.
  public static let providerToken = RetryPolicy(firstDelay: 2400, greatestDelay: 3600)

  /// Seconds until the next attempt: between half and the whole of `firstDelay` · 2^`attempt`,
  /// never less than `retryAfter`.
  ///
  /// - Parameters:
  ///   - attempt: the number of earlier retries; 0 after the first failure.
  ///   - random: a number in 0 ..< 1.
  ///   - retryAfter: the seconds that the peer requested (`Retry-After`, RFC 9110 section 10.2.3),
  ///     at most ``greatestRetryAfter``.
  public func delay(attempt: Int, random: Double, retryAfter: Double? = nil) -> Double {
    // Beyond 2^52 the delay has reached its limit anyway.
    let whole = min(greatestDelay, firstDelay * exp2(Double(min(max(attempt, 0), 52))))
    let delay = whole / 2 + whole / 2 * min(max(random, 0), 1)
    guard let retryAfter, retryAfter > delay else { return delay }
    return min(retryAfter, Self.greatestRetryAfter)
  }

  /// The most seconds that a peer's request is honoured for.
  public static let greatestRetryAfter: Double = 86_400
}
