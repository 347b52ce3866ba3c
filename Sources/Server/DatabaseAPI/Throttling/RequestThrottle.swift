import CloudKitModel
import Configuration
import StoreModel
import Synchronization
import WebServices

/// The enforcement of request rates.
///
/// A server that uses its store alone counts in memory, in one ``TokenBucket`` for each key.
/// Servers that share a store count together, in buckets of the store. Each server draws requests
/// from these buckets in advance, as a reserve: see ``RequestShares``. Locks protect both states;
/// no thread holds a lock during a call of the store.
final class RequestThrottle: Sendable {
  /// A subject whose requests are counted: a user, a server-to-server key, an API token or a
  /// network.
  struct Key: Sendable, Hashable {
    var subject: RequestRate.Subject
    /// The user record name, the ID of the server-to-server key, the identifier of the API token,
    /// or the network (``ClientAddress/network(of:header:)``).
    var name: String
  }

  /// The counts of a server that uses its store alone, as a value without I/O.
  struct State: Sendable {
    /// The refusal of a request.
    struct Refusal: Sendable, Hashable {
      var subject: RequestRate.Subject
      var rate: RequestRate
      /// Seconds until the subject's next request is admitted.
      var wait: Double
    }

    /// The rates by subject. A subject without a rate is not limited.
    private let rates: [RequestRate.Subject: RequestRate]
    /// The most keys with a bucket of their own.
    private let capacity: Int
    /// The buckets by key. A key without one has a full bucket.
    private var buckets: [Key: TokenBucket] = [:]
    /// The time of the last removal of full buckets.
    private var swept: Timestamp?

    /// Creates the state with full buckets.
    ///
    /// - Parameter capacity: the most callers and API tokens with a bucket of their own. All
    ///   further ones of the same kind share one bucket.
    init(rates: [RequestRate.Subject: RequestRate], capacity: Int) {
      self.rates = rates
      self.capacity = capacity
    }

    var count: Int { buckets.count }

    /// Decides about a request. An admitted request counts once for each key whose subject has a
    /// rate. A refused request counts for none.
    ///
    /// - Returns: nil if the request is admitted; otherwise the refusal with the longest wait.
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

    /// Returns the key under which a caller's bucket is stored: its own key, or the common key of
    /// its kind of subject if there is no space for another bucket.
    private mutating func place(for key: Key, at now: Timestamp) -> Key {
      if buckets[key] != nil { return key }
      if buckets.count >= capacity { sweep(at: now) }
      return buckets.count < capacity ? key : Key(subject: key.subject, name: "")
    }

    /// Removes full buckets, which are equal to new ones. It does so once a second at most.
    private mutating func sweep(at now: Timestamp) {
      if let swept, abs(now.seconds - swept.seconds) < 1 { return }
      swept = now
      buckets = buckets.filter { _, bucket in
        var bucket = bucket
        return !bucket.isFull(at: now)
      }
    }
  }

  /// The most callers and API tokens that are counted separately.
  private static let capacity = 100_000

  /// The reserves of this server, and the draws under way.
  private struct Shared {
    var shares: RequestShares
    /// The draws under way, by key. All requests that wait for a key share one draw.
    var draws: [Key: Task<Void, any Error>] = [:]
  }

  /// Whether there are no rates at all, so that nothing is counted.
  private let isOff: Bool
  /// The counts in memory, if the server uses its store alone.
  private let state: Mutex<State>
  /// The reserves, if servers share the store.
  private let shared: Mutex<Shared>
  /// The shared buckets in the store; nil for a server that uses its store alone.
  private let limits: (any SharedLimits)?
  /// A monotonic clock in seconds.
  private let elapsed: @Sendable () -> Double

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

  /// The time from which ``uptime`` counts: its first call.
  private static let began = ContinuousClock.now

  /// A monotonic clock: the seconds since its first call.
  static let uptime: @Sendable () -> Double = { (ContinuousClock.now - began) / .seconds(1) }

  /// Counts a request, or refuses it if a rate is used up.
  ///
  /// - Parameters:
  ///   - keys: the caller first, then the API token if there is one.
  ///   - now: the time for the counts in memory. The shared buckets use the store's clock.
  /// - Throws: `THROTTLED` with the seconds to wait; `StoreError` if the draw from a shared store
  ///   fails.
  func admit(_ keys: [Key], at now: Timestamp) async throws {
    guard !isOff else { return }
    guard let limits else {
      if let refusal = state.withLock({ $0.admit(keys, at: now) }) { throw ServiceError(refusal) }
      return
    }
    try await admit(keys, drawingFrom: limits)
  }

  /// Counts a request against the reserves, and draws from the store until there is a decision.
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

  /// Returns the draw under way for a key, or begins one. All requests that wait for the key share
  /// the draw.
  private func draw(_ key: Key, from limits: any SharedLimits) -> Task<Void, any Error> {
    shared.withLock { shared in
      if let draw = shared.draws[key] { return draw }
      let draw = Task {
        let began = elapsed()
        let draw = self.shared.withLock { $0.shares.beginDraw(for: key, at: began) }
        do {
          let allowance = if let draw { try await limits.draw(draw) } else { nil as Allowance? }
          self.shared.withLock { shared in
            // A request that comes from now on and finds no reserve begins another draw.
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
  /// Creates the error `THROTTLED` with the rate and the whole seconds to wait.
  fileprivate init(_ refusal: RequestThrottle.State.Refusal) {
    let rate = refusal.rate
    let whose =
      switch refusal.subject {
      case .user: "this user"
      case .serverKey: "this server-to-server key"
      case .apiToken: "this API token"
      case .address: "callers at this address who are not signed in"
      }
    // Rounded up, so that a client that waits so long is admitted.
    let wait = max(1, Int(refusal.wait.rounded(.up)))
    self.init(
      .throttled,
      "too many requests of \(whose): \(rate.perSecond) a second are allowed, \(rate.burst) at "
        + "once; wait \(wait == 1 ? "a second" : "\(wait) seconds")", retryAfter: Double(wait))
  }
}
