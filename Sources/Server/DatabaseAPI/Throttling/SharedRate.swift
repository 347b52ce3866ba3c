import Configuration

/// A `RequestRate` that servers count together: the reserve that each server may have, and for how
/// long.
///
/// A request in reserve may be used until ``lifetime`` ends. Therefore all requests of any period T
/// were drawn within T + `lifetime`. To make up for this, the shared bucket holds fewer requests,
/// by as many as arrive in one `lifetime`. All servers together then admit at most `burst` requests
/// and those that arrive in T.
struct SharedRate: Sendable, Hashable {
  /// The longest lifetime of a reserve in seconds.
  static let longestLifetime = 2.0
  /// The divisor of the burst that gives the largest reserve of a server: an eighth.
  static let share = 8

  /// Nanoseconds in which the bucket gains one request.
  let interval: Int64
  /// Requests that the full shared bucket holds.
  let capacity: Int
  /// The most requests in reserve, apart from waiting ones. It is 0 for a slow rate or a small
  /// burst, which allow no reserve.
  let inHand: Int
  /// Seconds for which a reserve is valid.
  let lifetime: Double

  /// Computes the shared form of a rate.
  init(_ rate: RequestRate) {
    let nanoseconds = min((1e9 / rate.perSecond).rounded(.up), 1e18)
    interval = max(1, Int64(nanoseconds))
    let perSecond = 1e9 / Double(interval)
    inHand = min(rate.burst / Self.share, Int(Self.longestLifetime * perSecond))
    lifetime = Double(inHand) / perSecond
    capacity = rate.burst - inHand
  }
}
