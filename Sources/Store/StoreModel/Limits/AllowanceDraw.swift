/// A wish to take requests out of a bucket.
public struct AllowanceDraw: Sendable, Hashable {
  /// Nanoseconds that a bucket may take to fill: 100 years.
  static let longestFilling: Int64 = 3_155_760_000 * 1_000_000_000

  public var subject: LimitSubject
  /// Nanoseconds in which a bucket gets one request more.
  public var interval: Int64
  /// Requests that a full bucket holds.
  public var capacity: Int64
  /// Requests that wait to be made now.
  public var needed: Int64
  /// Requests that the server would like to have beyond those, for a while. It gets no more of them
  /// than that half of what is in the bucket stays for others.
  public var extra: Int64

  /// - Parameters:
  ///   - interval: more than 0.
  ///   - capacity: at least 1. A bucket that would take more than a hundred years to fill holds less.
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

  /// What of `available` requests a draw is given.
  public func granted(of available: Int64) -> Int64 {
    min(available, max(needed, min(needed + extra, available / 2)))
  }
}

/// What came of an ``AllowanceDraw``.
public struct Allowance: Sendable, Hashable {
  /// Requests that may be made.
  public var granted: Int64
  /// Nanoseconds until the bucket is full, when nobody takes of it.
  public var fullIn: Int64

  public init(granted: Int64, fullIn: Int64) {
    self.granted = granted
    self.fullIn = fullIn
  }

  /// Nanoseconds until there is a request in the bucket of this draw.
  public func wait(after draw: AllowanceDraw) -> Int64 {
    max(0, fullIn - draw.filling + draw.interval)
  }
}
