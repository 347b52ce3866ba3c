import CloudKitModel
import Configuration
import Cryptography
import StoreModel

/// What one server decides where servers keep request rates together: which requests it makes of those
/// that it has in hand, and when it draws more from the shared bucket.
///
/// A caller's first request draws for itself alone. Who uses up what was drawn while that is good gets
/// twice as much in hand the next time, up to the share of the rate; who leaves some of it, only as much
/// as was used. So most requests of a busy caller touch no table, little is drawn in vain, and requests
/// that wait are never refused for what others have in hand and do not use: at most an eighth of the
/// burst, and half of what is left of it.
struct RequestShares: Sendable {
  typealias Key = RequestThrottle.Key
  typealias Refusal = RequestThrottle.State.Refusal

  enum Verdict: Sendable, Hashable {
    case admitted
    case refused(Refusal)
    /// To be asked again when these have drawn.
    case draw([Key])
  }

  /// Seconds between two draws from a bucket that had nothing, unless it fills in less than four times
  /// that.
  static let pause = 0.05

  private struct Share {
    /// Requests in hand, good until `end`.
    var count = 0
    var end = -Double.infinity
    /// Of those in hand that were made.
    var used = 0
    /// Requests beyond the waiting ones that were asked for.
    var extra = 0
    /// Requests that wait for a draw, and those drawn for them, which have no end.
    var waiting = 0
    var claimed = 0
    /// Whether some of those are from an earlier draw than the last.
    var claimsAreOfMany = false
    /// Until then the bucket has nothing.
    var emptyUntil = -Double.infinity
    /// From then on the store has no row of it, unless other servers draw.
    var fullAt = -Double.infinity

    func inHand(at now: Double) -> Int { now < end ? count : 0 }
  }

  private let rates: [RequestRate.Subject: RequestRate]
  private let sharedRates: [RequestRate.Subject: SharedRate]
  private let capacity: Int
  private var shares: [Key: Share] = [:]
  private var swept = -Double.infinity

  /// - Parameter capacity: callers that are remembered; more have one bucket together.
  init(rates: [RequestRate.Subject: RequestRate], capacity: Int) {
    self.rates = rates
    sharedRates = rates.mapValues { SharedRate($0) }
    self.capacity = capacity
  }

  var count: Int { shares.count }

  /// Decides about a request that counts for each key whose subject has a rate; one that may not be
  /// made counts for none of them.
  ///
  /// - Parameters:
  ///   - claims: the keys that the request has waited for so far; empty at first, and then what was
  ///     left there. ``release(_:)`` ends the wait where no verdict does.
  ///   - now: seconds of a clock that nobody sets.
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

  /// These waiting requests wait no more.
  mutating func release(_ claims: Set<Key>) {
    for key in claims {
      guard var share = shares[key] else { continue }
      share.waiting -= 1
      // What nobody waits for any more is in hand like the rest of its draw.
      let spare = max(0, share.claimed - share.waiting)
      share.claimed -= spare
      if !share.claimsAreOfMany { share.count += spare }
      shares[key] = share
    }
  }

  /// What to draw for a key of ``Verdict/draw(_:)``; nil when what waits has been drawn for by now.
  mutating func beginDraw(for key: Key, at now: Double) -> AllowanceDraw? {
    guard let rate = sharedRates[key.subject], var share = shares[key] else { return nil }
    // Those that were drawn for and have not come back yet wait as well.
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

  /// Takes in hand what was drawn.
  ///
  /// - Parameter began: when the draw was sent: what it gave is good from then on.
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

  /// Where a caller's share is: its own, or, when there is no room for another, the one that all have
  /// together who find none.
  private mutating func place(for key: Key, _ claims: Set<Key>, at now: Double) -> Key {
    if shares[key] != nil { return key }
    let common = Key(subject: key.subject, name: "")
    if claims.contains(common) { return common }
    if shares.count >= capacity { sweep(at: now) }
    return shares.count < capacity ? key : common
  }

  /// Forgets shares that have nothing and whose buckets are full; once a second at most.
  private mutating func sweep(at now: Double) {
    guard now - swept >= 1 else { return }
    swept = now
    shares = shares.filter { $0.value.waiting > 0 || $0.value.fullAt > now }
  }
}

extension RequestThrottle.Key {
  /// What the store knows the key as.
  var limitSubject: LimitSubject {
    LimitSubject(hash: SHA256.hash("request \(subject.rawValue) \(name)".utf8))
  }
}
