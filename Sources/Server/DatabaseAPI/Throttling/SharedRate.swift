import Configuration

/// A `RequestRate` that several servers count together in one token bucket of their store.
///
/// A server draws requests from the bucket: the bucket then holds fewer, and the server may admit
/// as many. Requests that the server draws in advance are its reserve. This type says how large a
/// reserve may be, and for how long it is valid.
///
/// A server may use a request in reserve for ``lifetime`` seconds. Therefore the requests that the
/// servers admit in *t* seconds were drawn from the bucket in at most *t* + `lifetime` seconds. To
/// make up for this, the bucket holds fewer requests than the `burst` of the rate: ``inHand``
/// fewer, which the rate adds in one `lifetime`. In *t* seconds, all servers together then admit at
/// most `burst` requests and the requests that the rate adds in *t* seconds.
struct SharedRate: Sendable, Hashable {
  /// The longest lifetime of a reserve in seconds.
  static let longestLifetime = 2.0
  /// The divisor of the burst. A server's reserve is at most an eighth of the burst.
  static let share = 8

  /// Nanoseconds in which the bucket gains one request.
  let interval: Int64
  /// The number of requests in the full bucket: `burst` minus ``inHand``.
  let capacity: Int
  /// The most requests that one server may have in reserve. It is 0, without a reserve, for a slow
  /// rate or a small burst.
  let inHand: Int
  /// Seconds for which a reserve is valid, at most ``longestLifetime``.
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
