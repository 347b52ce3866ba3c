/// A request to take tokens out of a token bucket that several servers share. One token permits one
/// request of a client.
///
/// For example, a bucket has an interval of one second and a capacity of 10. It permits one request
/// a second, and up to 10 at once after a pause.
public struct AllowanceDraw: Sendable, Hashable {
  /// The longest time in nanoseconds in which a bucket may fill: 100 years.
  static let longestFilling: Int64 = 3_155_760_000 * 1_000_000_000

  /// The caller whose bucket it is.
  public var subject: LimitSubject
  /// The nanoseconds in which a bucket gains one request.
  public var interval: Int64
  /// The number of requests that a full bucket holds.
  public var capacity: Int64
  /// The number of requests that wait at the server now.
  public var needed: Int64
  /// The number of further requests that the server would like to reserve, to save later draws. The
  /// draw gets them only as far as half of the requests now in the bucket stays for others.
  public var extra: Int64

  /// Creates a draw. Values outside of their ranges are raised or lowered to the nearest value in
  /// them.
  ///
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

  /// The nanoseconds in which an empty bucket fills.
  public var filling: Int64 { capacity * interval }

  /// Returns the number of requests that a draw gets out of `available`: at least the needed ones
  /// if there are as many.
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

  /// Creates the result of a draw.
  public init(granted: Int64, fullIn: Int64) {
    self.granted = granted
    self.fullIn = fullIn
  }

  /// Returns the nanoseconds until the bucket has a request for this draw; 0 if it has one now.
  public func wait(after draw: AllowanceDraw) -> Int64 {
    max(0, fullIn - draw.filling + draw.interval)
  }
}
