import CloudKitModel
import Configuration
import StoreModel
import Synchronization
import WebServices

/// Holds callers to their request rates.
final class RequestThrottle: Sendable {
  /// Someone whose requests are counted.
  struct Key: Sendable, Hashable {
    var subject: RequestRate.Subject
    /// The user record name, the token, the key or the address.
    var name: String
  }

  /// The decisions, as a value.
  struct State: Sendable {
    struct Refusal: Sendable, Hashable {
      var subject: RequestRate.Subject
      var rate: RequestRate
      /// Seconds.
      var wait: Double
    }

    private let rates: [RequestRate.Subject: RequestRate]
    private let capacity: Int
    private var buckets: [Key: TokenBucket] = [:]
    private var swept: Timestamp?

    /// - Parameter capacity: callers that are remembered.
    init(rates: [RequestRate.Subject: RequestRate], capacity: Int) {
      self.rates = rates
      self.capacity = capacity
    }

    var count: Int { buckets.count }

    /// Counts a request for each key whose subject has a rate; one that may not be made counts for
    /// none of them. Answers the longest wait.
    mutating func admit(_ keys: [Key], at now: Timestamp) -> Refusal? {
      var refusal: Refusal?
      var admitted: [(Key, TokenBucket)] = []
      for key in keys {
        guard let rate = rates[key.subject] else { continue }
        let place = place(for: key, at: now)
        var bucket = buckets[place] ?? TokenBucket(rate, at: now)
        let wait = bucket.wait(at: now)
        if wait > refusal?.wait ?? 0 {
          refusal = Refusal(subject: key.subject, rate: rate, wait: wait)
        }
        admitted.append((place, bucket))
      }
      for (place, bucket) in admitted {
        var bucket = bucket
        if refusal == nil { bucket.take() }
        buckets[place] = bucket
      }
      return refusal
    }

    /// Where a caller's bucket is: its own, or, when there is no room for another, the one that all
    /// share who find none.
    private mutating func place(for key: Key, at now: Timestamp) -> Key {
      if buckets[key] != nil { return key }
      if buckets.count >= capacity { sweep(at: now) }
      return buckets.count < capacity ? key : Key(subject: key.subject, name: "")
    }

    /// Forgets full buckets, which are as good as new ones; once a second at most.
    private mutating func sweep(at now: Timestamp) {
      if let swept, abs(now.seconds - swept.seconds) < 1 { return }
      swept = now
      buckets = buckets.filter { _, bucket in
        var bucket = bucket
        return !bucket.isFull(at: now)
      }
    }
  }

  /// Callers that are remembered.
  private static let capacity = 100_000

  /// What this server has in hand where servers share the store, and the draws under way.
  private struct Shared {
    var shares: RequestShares
    var draws: [Key: Task<Void, any Error>] = [:]
  }

  private let isOff: Bool
  private let state: Mutex<State>
  private let shared: Mutex<Shared>
  private let limits: (any SharedLimits)?
  private let elapsed: @Sendable () -> Double

  /// - Parameters:
  ///   - limits: where servers count together; nil for a server that is alone.
  ///   - elapsed: seconds of a clock that nobody sets.
  init(
    rates: [RequestRate.Subject: RequestRate], sharing limits: (any SharedLimits)? = nil,
    elapsed: @escaping @Sendable () -> Double = RequestThrottle.uptime
  ) {
    isOff = rates.isEmpty
    state = Mutex(State(rates: rates, capacity: Self.capacity))
    shared = Mutex(Shared(shares: RequestShares(rates: rates, capacity: Self.capacity)))
    self.limits = limits
    self.elapsed = elapsed
  }

  private static let began = ContinuousClock.now

  /// Seconds since the first look.
  static let uptime: @Sendable () -> Double = { (ContinuousClock.now - began) / .seconds(1) }

  /// Counts a request.
  ///
  /// - Throws: `THROTTLED` with the seconds to wait; ``StoreError`` when the store that servers share
  ///   cannot tell.
  func admit(_ keys: [Key], at now: Timestamp) async throws {
    guard !isOff else { return }
    guard let limits else {
      if let refusal = state.withLock({ $0.admit(keys, at: now) }) { throw ServiceError(refusal) }
      return
    }
    try await admit(keys, drawingFrom: limits)
  }

  private func admit(_ keys: [Key], drawingFrom limits: any SharedLimits) async throws {
    var claims: Set<Key> = []
    while true {
      let verdict = shared.withLock { shared in
        shared.shares.admit(keys, claims: &claims, at: elapsed())
      }
      switch verdict {
      case .admitted: return
      case .refused(let refusal): throw ServiceError(refusal)
      case .draw(let missing):
        do {
          for draw in missing.map({ self.draw($0, from: limits) }) { try await draw.value }
        } catch {
          shared.withLock { $0.shares.release(claims) }
          throw error
        }
      }
    }
  }

  /// One draw for all who wait for this key.
  private func draw(_ key: Key, from limits: any SharedLimits) -> Task<Void, any Error> {
    shared.withLock { shared in
      if let draw = shared.draws[key] { return draw }
      let draw = Task {
        let began = elapsed()
        let draw = self.shared.withLock { $0.shares.beginDraw(for: key, at: began) }
        do {
          let allowance = if let draw { try await limits.draw(draw) } else { nil as Allowance? }
          self.shared.withLock { shared in
            // Who comes from now on and finds nothing begins another.
            shared.draws[key] = nil
            guard let draw, let allowance else { return }
            shared.shares.endDraw(for: key, draw, allowance, began: began, at: elapsed())
          }
        } catch {
          self.shared.withLock { $0.draws[key] = nil }
          throw error
        }
      }
      shared.draws[key] = draw
      return draw
    }
  }
}

extension ServiceError {
  fileprivate init(_ refusal: RequestThrottle.State.Refusal) {
    let rate = refusal.rate
    let whose =
      switch refusal.subject {
      case .user: "this user"
      case .serverKey: "this server-to-server key"
      case .apiToken: "this API token"
      case .address: "callers at this address who are not signed in"
      }
    // Rounded up: who waits so long finds a place.
    let wait = max(1, Int(refusal.wait.rounded(.up)))
    self.init(
      .throttled,
      "too many requests of \(whose): \(rate.perSecond) a second are allowed, \(rate.burst) at "
        + "once; wait \(wait == 1 ? "a second" : "\(wait) seconds")", retryAfter: Double(wait))
  }
}
