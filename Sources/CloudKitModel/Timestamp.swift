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
    let exact = (date.timeIntervalSince1970 * 1000).rounded()
    if exact.isNaN {
      milliseconds = 0
    } else {
      milliseconds = Int64(exactly: exact) ?? (exact < 0 ? .min : .max)
    }
  }

  public static var now: Timestamp { Timestamp(Date()) }

  public var date: Date { Date(timeIntervalSince1970: seconds) }

  /// Seconds since 1970-01-01 UTC, with a fraction.
  public var seconds: Double { Double(milliseconds) / 1000 }

  public func advanced(bySeconds seconds: Double) -> Timestamp {
    Timestamp(milliseconds: milliseconds + Int64((seconds * 1000).rounded()))
  }

  public static func < (left: Timestamp, right: Timestamp) -> Bool {
    left.milliseconds < right.milliseconds
  }
}
