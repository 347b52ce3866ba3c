import CloudKitModel
import Configuration

/// A token bucket: the requests that a subject may still make under its `RequestRate`.
struct TokenBucket: Sendable, Hashable {
  /// The rate that fills the bucket.
  private let rate: RequestRate
  /// Requests in the bucket. Fractions count.
  private var tokens: Double
  /// The time of the last filling.
  private var filled: Timestamp

  /// Creates a full bucket.
  init(_ rate: RequestRate, at now: Timestamp) {
    self.rate = rate
    tokens = Double(rate.burst)
    filled = now
  }

  /// Fills the bucket up to `now`, and returns the seconds until a request may be made; 0 if one
  /// may be made now.
  mutating func wait(at now: Timestamp) -> Double {
    fill(at: now)
    return tokens >= 1 ? 0 : (1 - tokens) / rate.perSecond
  }

  /// Takes one request out. Call this only if ``wait(at:)`` has returned 0.
  mutating func take() { tokens -= 1 }

  /// Fills the bucket up to `now`, and returns whether it is full. A full bucket equals a new one.
  mutating func isFull(at now: Timestamp) -> Bool {
    fill(at: now)
    return tokens >= Double(rate.burst)
  }

  /// Adds the requests that the rate permits for the time since the last filling. If the clock was
  /// set back, the method adds none.
  private mutating func fill(at now: Timestamp) {
    let seconds = now.seconds - filled.seconds
    filled = now
    guard seconds > 0 else { return }
    tokens = min(Double(rate.burst), tokens + seconds * rate.perSecond)
  }
}
