import CloudKitModel
import Configuration

/// What is left of someone's ``RequestRate``.
struct TokenBucket: Sendable, Hashable {
  private let rate: RequestRate
  private var tokens: Double
  private var filled: Timestamp

  /// A full bucket.
  init(_ rate: RequestRate, at now: Timestamp) {
    self.rate = rate
    tokens = Double(rate.burst)
    filled = now
  }

  /// Seconds until a request may be made; 0 when one may be made now.
  mutating func wait(at now: Timestamp) -> Double {
    fill(at: now)
    return tokens >= 1 ? 0 : (1 - tokens) / rate.perSecond
  }

  /// Takes a request out. To be called when ``wait(at:)`` is 0.
  mutating func take() { tokens -= 1 }

  mutating func isFull(at now: Timestamp) -> Bool {
    fill(at: now)
    return tokens >= Double(rate.burst)
  }

  /// A clock that is set back fills nothing.
  private mutating func fill(at now: Timestamp) {
    let seconds = now.seconds - filled.seconds
    filled = now
    guard seconds > 0 else { return }
    tokens = min(Double(rate.burst), tokens + seconds * rate.perSecond)
  }
}
