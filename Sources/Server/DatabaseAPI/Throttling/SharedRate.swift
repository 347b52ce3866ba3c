import Configuration

/// A `RequestRate` that several servers count together. It says how large a server's reserve may
/// be, and for how long the reserve is valid.
///
/// A request in reserve may be used until ``lifetime`` ends. Therefore the requests that the
/// servers admit in a period T were drawn from the bucket in a period of T + `lifetime`. To make up
/// for this, the shared bucket holds fewer requests: fewer by those that the rate adds in one
/// `lifetime`. In a period T, all servers together then admit at most `burst` requests and those
/// that the rate adds in T.
struct SharedRate: Sendable, Hashable {
  /// The longest lifetime of a reserve in seconds.
  static let longestLifetime = 2.0
  /// The divisor of the burst. A server's reserve is at most an eighth of the burst.
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
