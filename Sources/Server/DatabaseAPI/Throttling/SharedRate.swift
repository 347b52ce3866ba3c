import Configuration

/// A ``RequestRate`` that servers keep together: how much of it each may have in hand, and for how long.
///
/// A request that a server has in hand may be made until ``lifetime`` is over. So within any time T
/// requests can be made that were drawn within T + `lifetime`, and the bucket that all draw from holds
/// less by what comes in one `lifetime`: together no more than `burst` and what comes in T are made.
struct SharedRate: Sendable, Hashable {
  /// Seconds that a server has requests in hand at most.
  static let longestLifetime = 2.0
  /// The part of the burst that a server may have in hand.
  static let share = 8

  /// Nanoseconds in which the bucket gets one request more.
  let interval: Int64
  /// Requests that the shared bucket holds.
  let capacity: Int
  /// Requests in hand at most, beyond those that wait to be made; 0 for a rate that is too slow or a
  /// burst that is too small for any.
  let inHand: Int
  /// Seconds that requests in hand are good for.
  let lifetime: Double

  init(_ rate: RequestRate) {
    let nanoseconds = min((1e9 / rate.perSecond).rounded(.up), 1e18)
    interval = max(1, Int64(nanoseconds))
    let perSecond = 1e9 / Double(interval)
    inHand = min(rate.burst / Self.share, Int(Self.longestLifetime * perSecond))
    lifetime = Double(inHand) / perSecond
    capacity = rate.burst - inHand
  }
}
