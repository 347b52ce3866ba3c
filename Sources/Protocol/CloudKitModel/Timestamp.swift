import Foundation

/// A point in time in whole milliseconds since 1970-01-01 00:00 UTC: CloudKit's date and time
/// value.
///
/// The web-services protocol counts milliseconds and refuses fractions, so Petrel stores whole
/// milliseconds.
public struct Timestamp: Sendable, Hashable, Comparable {
  /// The milliseconds since 1970-01-01 00:00 UTC; negative before that time.
  public var milliseconds: Int64

  /// Creates a point in time from milliseconds since 1970-01-01 00:00 UTC.
  public init(milliseconds: Int64) {
    self.milliseconds = milliseconds
  }

  /// Creates the millisecond nearest to `date`. Dates beyond the range of `Int64` become the
  /// smallest or largest `Int64`.
  public init(_ date: Date) {
    milliseconds = Self.milliseconds(date.timeIntervalSince1970)
  }

  /// The current time by the system's clock.
  public static var now: Timestamp { Timestamp(Date()) }

  /// The time as a Foundation date.
  public var date: Date { Date(timeIntervalSince1970: seconds) }

  /// The seconds since 1970-01-01 00:00 UTC, with a fraction.
  public var seconds: Double { Double(milliseconds) / 1000 }

  /// Returns the time `seconds` later, rounded to the nearest millisecond. A result beyond the
  /// range of `Int64` becomes the smallest or largest `Int64`.
  public func advanced(bySeconds seconds: Double) -> Timestamp {
    let (sum, overflow) = milliseconds.addingReportingOverflow(Self.milliseconds(seconds))
    return Timestamp(milliseconds: overflow ? (seconds < 0 ? .min : .max) : sum)
  }

  /// Converts seconds to the nearest number of milliseconds, clamped to the range of `Int64`; 0 for
  /// a NaN.
  private static func milliseconds(_ seconds: Double) -> Int64 {
    let exact = (seconds * 1000).rounded()
    if exact.isNaN { return 0 }
    return Int64(exactly: exact) ?? (exact < 0 ? .min : .max)
  }

  public static func < (left: Timestamp, right: Timestamp) -> Bool {
    left.milliseconds < right.milliseconds
  }
}
