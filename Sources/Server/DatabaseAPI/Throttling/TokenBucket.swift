import CloudKitModel
import Configuration

/// A token bucket: the number of requests that one caller, or all callers with one API token, may
/// still make under a `RequestRate`.
struct TokenBucket: Sendable, Hashable {
  private let rate: RequestRate
  /// The number of requests in the bucket, from 0 to `burst` of the rate. It may be a fraction.
  private var tokens: Double
  /// The time of the last call of ``fill(at:)``.
  private var filled: Timestamp

  init(_ rate: RequestRate, at now: Timestamp) {
    self.rate = rate
    tokens = Double(rate.burst)
    filled = now
  }

  /// Adds the requests that the rate permits until `now`, and returns the seconds until the next
  /// request may be made; 0 if it may be made now.
  mutating func wait(at now: Timestamp) -> Double {
    fill(at: now)
    return tokens >= 1 ? 0 : (1 - tokens) / rate.perSecond
  }

  /// Removes one request from the bucket. Call this only if ``wait(at:)`` has returned 0.
  mutating func take() { tokens -= 1 }

  /// Adds the requests that the rate permits until `now`, and returns whether the bucket is full. A
  /// full bucket equals a new one.
  mutating func isFull(at now: Timestamp) -> Bool {
    fill(at: now)
    return tokens >= Double(rate.burst)
  }

  /// Adds the requests that the rate permits for the time since the last call. If the clock was set
  /// back, the method adds none.
  private mutating func fill(at now: Timestamp) {
    // The difference of seconds since 1970 would be a little less or more than the time that passed.
    let seconds = (Double(now.milliseconds) - Double(filled.milliseconds)) / 1000
    filled = now
    guard seconds > 0 else { return }
    tokens = min(Double(rate.burst), tokens + seconds * rate.perSecond)
  }
}
