import CloudKitModel
import Configuration
import Cryptography
import StoreModel

/// The decisions of one server when several servers count request rates together: which requests
/// its reserve admits, and when it draws more from the shared bucket.
///
/// A server draws requests from the bucket in the store and keeps those that it does not need at
/// once as a reserve. The first request of a caller draws for itself alone. If the caller uses up a
/// reserve while it is valid, the next draw reserves twice as many, up to the share of the rate. If
/// some of the reserve expires, the next draw reserves only as many as were used.
///
/// So most requests of a busy caller need no access to a table, and few requests are drawn and then
/// expire. Unused reserves do not cause refusals at other servers: a reserve is at most an eighth
/// of the burst, and a draw adds to the reserve only while half of the bucket stays for others.
struct RequestShares: Sendable {
  typealias Key = RequestThrottle.Key
  typealias Refusal = RequestThrottle.State.Refusal

  /// The decision about a request.
  enum Verdict: Sendable, Hashable {
    /// The request is admitted.
    case admitted
    /// The request is refused; it counts for no key.
    case refused(Refusal)
    /// The request waits until a draw for each of these keys has ended. Then call
    /// ``admit(_:claims:at:)`` again.
    case draw([Key])
  }

  /// Seconds between two draws from a bucket that had nothing. If the bucket fills in less than
  /// four times this time, the pause is a quarter of the filling time.
  static let pause = 0.05

  /// The reserve of one key.
  private struct Share {
    /// Requests in reserve, which are valid until ``end``.
    var count = 0
    /// The time at which the reserve expires.
    var end = -Double.infinity
    /// Requests of the reserve that were used since the last draw.
    var used = 0
    /// Requests that the last draw asked for beyond the waiting ones.
    var extra = 0
    /// Requests that wait for a draw.
    var waiting = 0
    /// Requests that were drawn for waiting ones. They do not expire.
    var claimed = 0
    /// Whether some of ``claimed`` are from a draw before the last one. If they are no longer
    /// needed, they do not go to the reserve.
    var claimsAreOfMany = false
    /// The time until which no request is drawn, because the last draw got none.
    var emptyUntil = -Double.infinity
    /// The time from which the shared bucket is full, unless another server draws from it. The
    /// store then has no row for the bucket.
    var fullAt = -Double.infinity

    /// Returns the requests in reserve that are still valid.
    func inHand(at now: Double) -> Int { now < end ? count : 0 }
  }

  /// The rates by subject. A subject without a rate is not limited.
  private let rates: [RequestRate.Subject: RequestRate]
  /// The same rates as servers share them.
  private let sharedRates: [RequestRate.Subject: SharedRate]
  /// The most keys with a reserve of their own.
  private let capacity: Int
  /// The reserves by key.
  private var shares: [Key: Share] = [:]
  /// The time of the last removal of empty reserves.
  private var swept = -Double.infinity

  /// Creates the state with no reserves.
  ///
  /// - Parameter capacity: the most callers with a reserve of their own. Further callers of a
  ///   subject share one bucket.
  init(rates: [RequestRate.Subject: RequestRate], capacity: Int) {
    self.rates = rates
    sharedRates = rates.mapValues { SharedRate($0) }
    self.capacity = capacity
  }

  /// The number of keys with a reserve.
  var count: Int { shares.count }

  /// Decides about a request. An admitted request counts once for each key whose subject has a
  /// rate. A refused request counts for none.
  ///
  /// - Parameters:
  ///   - claims: the keys for which the request waits; empty at the first call. Pass the result of
  ///     one call to the next. If the request ends its wait without a decision, call
  ///     ``release(_:)``.
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

  /// Ends the wait of a request for these keys, whether it was admitted or not.
  mutating func release(_ claims: Set<Key>) {
    for key in claims {
      guard var share = shares[key] else { continue }
      share.waiting -= 1
      // Drawn requests for which nothing waits any more go to the reserve of the last draw.
      let spare = max(0, share.claimed - share.waiting)
      share.claimed -= spare
      if !share.claimsAreOfMany { share.count += spare }
      shares[key] = share
    }
  }

  /// Computes the draw for a key of ``Verdict/draw(_:)``, and stores the size of the reserve that
  /// it asks for.
  ///
  /// - Returns: nil if enough was drawn in the meantime for all requests that wait for the key.
  mutating func beginDraw(for key: Key, at now: Double) -> AllowanceDraw? {
    guard let rate = sharedRates[key.subject], var share = shares[key] else { return nil }
    // Requests that were drawn for, but have not called again yet, still count as waiting.
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

  /// Adds the result of a draw to the reserve.
  ///
  /// - Parameter began: the time when the draw was sent. The reserve is valid for its lifetime from
  ///   then on.
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

  /// Returns the key under which a caller's reserve is stored: its own, or the common one of the
  /// subject if there is no space for another.
  private mutating func place(for key: Key, _ claims: Set<Key>, at now: Double) -> Key {
    if shares[key] != nil { return key }
    let common = Key(subject: key.subject, name: "")
    if claims.contains(common) { return common }
    if shares.count >= capacity { sweep(at: now) }
    return shares.count < capacity ? key : common
  }

  /// Removes the reserves for which nothing waits and whose buckets are full. It runs once a second
  /// at most.
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
