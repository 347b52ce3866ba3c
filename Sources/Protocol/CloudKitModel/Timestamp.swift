import Foundation

/// A moment in whole milliseconds since 1970-01-01 00:00 UTC: CloudKit's date/time value.
///
/// The web-services protocol counts milliseconds and refuses fractions, so nothing finer is kept.
public struct Timestamp: Sendable, Hashable, Comparable {
  public var milliseconds: Int64

  public init(milliseconds: Int64) {
    self.milliseconds = milliseconds
  }

  /// The millisecond nearest to `date`. Dates beyond the range of `Int64` are clamped to it.
  public init(_ date: Date) {
    milliseconds = Self.milliseconds(date.timeIntervalSince1970)
  }

  public static var now: Timestamp { Timestamp(Date()) }

  public var date: Date { Date(timeIntervalSince1970: seconds) }

  /// Seconds since 1970-01-01 UTC, with a fraction.
  public var seconds: Double { Double(milliseconds) / 1000 }

  /// The moment that many seconds later, to the nearest millisecond, within the range of `Int64`.
  public func advanced(bySeconds seconds: Double) -> Timestamp {
    let (sum, overflow) = milliseconds.addingReportingOverflow(Self.milliseconds(seconds))
    return Timestamp(milliseconds: overflow ? (seconds < 0 ? .min : .max) : sum)
  }

  /// The nearest whole number, clamped; 0 for a NaN.
  private static func milliseconds(_ seconds: Double) -> Int64 {
    let exact = (seconds * 1000).rounded()
    if exact.isNaN { return 0 }
    return Int64(exactly: exact) ?? (exact < 0 ? .min : .max)
  }

  public static func < (left: Timestamp, right: Timestamp) -> Bool {
    left.milliseconds < right.milliseconds
  }
}
