import Foundation

/// How long to wait before something that failed is tried again: twice as long after each failure,
/// up to a limit, with a random part so that what failed together does not come back together.
public struct RetryPolicy: Sendable, Hashable {
  /// Seconds before the first repeat, before chance has its say.
  public var firstDelay: Double
  /// Seconds that no delay passes, unless the peer itself asks for more.
  public var greatestDelay: Double

  public init(firstDelay: Double, greatestDelay: Double) {
    self.firstDelay = firstDelay
    self.greatestDelay = greatestDelay
  }

  /// Nothing is wrong but the connection: soon, but not in a tight loop.
  public static let reconnect = RetryPolicy(firstDelay: 0.1, greatestDelay: 30)
  /// The service has trouble.
  public static let service = RetryPolicy(firstDelay: 1, greatestDelay: 300)
  /// One device gets more than APNs will pass on.
  public static let device = RetryPolicy(firstDelay: 15, greatestDelay: 1800)
  /// APNs refuses provider tokens; it accepts a new one after 20 minutes at the earliest.
  public static let providerToken = RetryPolicy(firstDelay: 2400, greatestDelay: 3600)

  /// Seconds until the next try: between half and the whole of `firstDelay` · 2^`attempt`, never
  /// less than `retryAfter`.
  ///
  /// - Parameters:
  ///   - attempt: how often it was tried again before; 0 after the first failure.
  ///   - random: a number in 0 ..< 1.
  ///   - retryAfter: the seconds that the peer asked for (`Retry-After`, RFC 9110 section 10.2.3).
  ///     More than ``greatestRetryAfter`` counts as that much.
  public func delay(attempt: Int, random: Double, retryAfter: Double? = nil) -> Double {
    // Beyond 2^52 the delay has met its limit anyway.
    let whole = min(greatestDelay, firstDelay * exp2(Double(min(max(attempt, 0), 52))))
    let delay = whole / 2 + whole / 2 * min(max(random, 0), 1)
    guard let retryAfter, retryAfter > delay else { return delay }
    return min(retryAfter, Self.greatestRetryAfter)
  }

  /// Seconds; a peer that asks for more is not believed.
  public static let greatestRetryAfter: Double = 86_400
}
