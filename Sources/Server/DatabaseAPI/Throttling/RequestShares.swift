import CloudKitModel
import Configuration
import Cryptography
import StoreModel

/// The decisions of one server when several servers count request rates together: which requests
/// its reserve admits, and when it draws more from the shared bucket.
///
/// The store has one token bucket for each key, which is a caller or an API token. A server draws
/// requests from the bucket: the bucket then holds fewer, and the server may admit as many. The
/// server keeps the requests that it does not need at once as its reserve for the key, which
/// expires after ``SharedRate/lifetime`` seconds.
///
/// The first request of a caller draws for itself alone. If the reserve is used up before it
/// expires, the next draw reserves twice as many requests, up to ``SharedRate/inHand``. After a
/// reserve has expired, the next draw reserves only as many requests as were used of the old
/// reserve.
///
/// So most requests of a busy caller need no access to the store, and few drawn requests expire
/// unused. Unused reserves rarely cause refusals at other servers: a reserve is at most an eighth
/// of the burst, and a draw for a reserve leaves at least half of the bucket's requests to other
/// servers.
struct RequestShares: Sendable {
  typealias Key = RequestThrottle.Key
  typealias Refusal = RequestThrottle.State.Refusal

  /// The decision about a request.
  enum Verdict: Sendable, Hashable {
    case admitted
    /// The request is refused; it counts for no key.
    case refused(Refusal)
    /// The request waits for a draw for each of these keys. When all of these draws have ended,
    /// call ``admit(_:claims:at:)`` again.
    case draw([Key])
  }

  /// The fewest seconds between two draws from a bucket that was empty. If the bucket fills in less
  /// than four times these seconds, a quarter of its filling time applies instead.
  static let pause = 0.05

  /// The reserve of one key, and the requests that wait for a draw.
  private struct Share {
    /// Requests in reserve, which are valid until ``end``.
    var count = 0
    /// The time at which the reserve expires.
    var end = -Double.infinity
    /// Requests of the reserve that were admitted since the last draw.
    var used = 0
    /// The number of requests for the reserve in the last draw, beyond those for waiting requests.
    var extra = 0
    /// Requests that wait for a draw.
    var waiting = 0
    /// The number of drawn requests that are set aside for the waiting requests. They do not
    /// expire.
    var claimed = 0
    /// Whether some of ``claimed`` are from a draw before the last one. If no request waits for
    /// them any more, they are then discarded, and not added to the reserve of the last draw.
    var claimsAreOfMany = false
    /// The time until which no request is drawn, because the last draw got none.
    var emptyUntil = -Double.infinity
    /// The time from which the shared bucket is full, unless another server draws from it. A full
    /// bucket needs no row in the store, and no reserve here.
    var fullAt = -Double.infinity

    /// Returns the requests in reserve that are still valid.
    func inHand(at now: Double) -> Int { now < end ? count : 0 }
  }

  /// The rates by subject. A subject without a rate is not limited.
  private let rates: [RequestRate.Subject: RequestRate]
  /// The same rates in the form for shared buckets.
  private let sharedRates: [RequestRate.Subject: SharedRate]
  /// The most keys with an entry in ``shares``.
  private let capacity: Int
  private var shares: [Key: Share] = [:]
  /// The time of the last search for reserves that can be removed.
  private var swept = -Double.infinity

  /// Creates the state with no reserves.
  ///
  /// - Parameter capacity: the most callers and API tokens with a reserve of their own. All further
  ///   ones of the same kind share one bucket.
  init(rates: [RequestRate.Subject: RequestRate], capacity: Int) {
    self.rates = rates
    sharedRates = rates.mapValues { SharedRate($0) }
    self.capacity = capacity
  }

  var count: Int { shares.count }

  /// Decides about a request. An admitted request counts once for each key whose subject has a
  /// rate. A refused request counts for none.
  ///
  /// - Parameters:
  ///   - keys: the caller, and the API token if there is one.
  ///   - claims: the keys for which the request waits for a draw; empty at the first call. Pass the
  ///     set that one call has changed to the next call. If the request ends its wait without a
  ///     decision, call ``release(_:)``.
  ///   - now: seconds of a monotonic clock.
  mutating func admit(_ keys: [Key], claims: inout Set<Key>, at now: Double) -> Verdict {
    var refusal: Refusal?
    var missing: [Key] = []
    var places: [Key] = []
    for key in keys {
      guard let rate = rates[key.subject] else { continue }
      let place = place(for: key, claims, at: now)
      places.append(place)
      let share = shares[place, default: Share()]
      let isClaiming = claims.contains(place)
      if isClaiming && share.claimed > 0 || share.inHand(at: now) > 0 { continue }
      let wait = share.emptyUntil - now
      if wait > 0 {
        if wait > refusal?.wait ?? 0 {
          refusal = Refusal(subject: key.subject, rate: rate, wait: wait)
        }
      } else {
        missing.append(place)
      }
    }
    if let refusal {
      release(claims)
      claims = []
      return .refused(refusal)
    }
    guard missing.isEmpty else {
      for place in missing where claims.insert(place).inserted {
        shares[place, default: Share()].waiting += 1
      }
      return .draw(missing)
    }
    for place in places {
      if claims.contains(place), let claimed = shares[place]?.claimed, claimed > 0 {
        shares[place]?.claimed -= 1
      } else {
        shares[place]?.count -= 1
        shares[place]?.used += 1
      }
    }
    release(claims)
    claims = []
    return .admitted
  }

  /// Ends the wait of one request for these keys, after the request was admitted, refused or
  /// cancelled.
  mutating func release(_ claims: Set<Key>) {
    for key in claims {
      guard var share = shares[key] else { continue }
      share.waiting -= 1
      // Drawn requests for which no request waits any more are added to the reserve of the last
      // draw.
      let spare = max(0, share.claimed - share.waiting)
      share.claimed -= spare
      if !share.claimsAreOfMany { share.count += spare }
      shares[key] = share
    }
  }

  /// Computes the draw for a key of ``Verdict/draw(_:)``, and stores the number of requests that
  /// the draw asks for beyond the waiting ones.
  ///
  /// - Returns: nil if enough was drawn in the meantime for all requests that wait for the key.
  mutating func beginDraw(for key: Key, at now: Double) -> AllowanceDraw? {
    guard let rate = sharedRates[key.subject], var share = shares[key] else { return nil }
    // A waiting request counts in `waiting` until it calls `admit` again, even if a draw has
    // already set one of `claimed` aside for it.
    let needed = share.waiting - share.claimed
    guard needed > 0 else { return nil }
    if now >= share.end {
      share.extra = min(share.used, rate.inHand)
    } else {
      share.extra = min(max(1, share.extra * 2), rate.inHand)
    }
    shares[key] = share
    return AllowanceDraw(
      subject: key.limitSubject, interval: rate.interval, capacity: Int64(rate.capacity),
      needed: Int64(needed), extra: Int64(share.extra))
  }

  /// Sets granted requests aside for the waiting ones, and replaces the reserve with the others. An
  /// old reserve is lost.
  ///
  /// - Parameter began: the time when the draw began. The reserve is valid for
  ///   ``SharedRate/lifetime`` seconds from this time on.
  mutating func endDraw(
    for key: Key, _ draw: AllowanceDraw, _ allowance: Allowance, began: Double, at now: Double
  ) {
    guard let rate = sharedRates[key.subject], var share = shares[key] else { return }
    let granted = Int(allowance.granted)
    let claimed = min(granted, max(0, share.waiting - share.claimed))
    share.claimsAreOfMany = share.claimed > 0
    share.claimed += claimed
    share.count = granted - claimed
    share.used = 0
    share.end = began + rate.lifetime
    share.fullAt = now + Double(allowance.fullIn) / 1e9
    let pause = min(Self.pause, Double(draw.filling) / 4e9)
    share.emptyUntil =
      granted > 0
      ? -Double.infinity : now + max(pause, Double(allowance.wait(after: draw)) / 1e9)
    shares[key] = share
  }

  /// Returns the key under which a caller's reserve is stored: its own key, or the common key of
  /// its kind of subject if there is no space for another reserve.
  private mutating func place(for key: Key, _ claims: Set<Key>, at now: Double) -> Key {
    if shares[key] != nil { return key }
    let common = Key(subject: key.subject, name: "")
    if claims.contains(common) { return common }
    if shares.count >= capacity { sweep(at: now) }
    return shares.count < capacity ? key : common
  }

  /// Removes the reserves for which no request waits and whose buckets in the store are full. It
  /// does so once a second at most.
  private mutating func sweep(at now: Double) {
    guard now - swept >= 1 else { return }
    swept = now
    shares = shares.filter { $0.value.waiting > 0 || $0.value.fullAt > now }
  }
}

extension RequestThrottle.Key {
  /// The subject of the shared limit in the store: a hash of the key.
  var limitSubject: LimitSubject {
    LimitSubject(hash: SHA256.hash("request \(subject.rawValue) \(name)".utf8))
  }
}
