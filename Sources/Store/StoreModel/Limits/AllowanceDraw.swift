/// A request to take tokens for requests out of a token bucket.
public struct AllowanceDraw: Sendable, Hashable {
  /// The longest time in nanoseconds in which a bucket may fill: 100 years.
  static let longestFilling: Int64 = 3_155_760_000 * 1_000_000_000

  public var subject: LimitSubject
  /// Nanoseconds in which a bucket gains one request.
  public var interval: Int64
  /// Requests that a full bucket holds.
  public var capacity: Int64
  /// Requests that wait now.
  public var needed: Int64
  /// Further requests that the server would like to reserve. The draw gets them only as far as half
  /// of the bucket stays for others.
  public var extra: Int64

  /// - Parameters:
  ///   - interval: more than 0.
  ///   - capacity: at least 1. It is lowered if the bucket would take more than 100 years to fill.
  public init(
    subject: LimitSubject, interval: Int64, capacity: Int64, needed: Int64, extra: Int64
  ) {
    self.subject = subject
    self.interval = min(max(1, interval), Self.longestFilling)
    self.capacity = min(max(1, capacity), Self.longestFilling / self.interval)
    self.needed = max(0, needed)
    self.extra = max(0, extra)
  }

  /// Nanoseconds in which an empty bucket fills.
  public var filling: Int64 { capacity * interval }

  /// The number of requests that a draw gets out of `available`.
  public func granted(of available: Int64) -> Int64 {
    min(available, max(needed, min(needed + extra, available / 2)))
  }
}

/// The result of an ``AllowanceDraw``.
public struct Allowance: Sendable, Hashable {
  /// The number of requests that may be made.
  public var granted: Int64
  /// Nanoseconds until the bucket is full if no server draws from it.
  public var fullIn: Int64

  public init(granted: Int64, fullIn: Int64) {
    self.granted = granted
    self.fullIn = fullIn
  }

  /// Nanoseconds until the bucket has a request for this draw.
  public func wait(after draw: AllowanceDraw) -> Int64 {
    max(0, fullIn - draw.filling + draw.interval)
  }
}
