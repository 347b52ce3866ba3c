import Foundation

/// A point in time in whole milliseconds since 1970-01-01 00:00 UTC: CloudKit's date and time
/// value.
///
/// The web-services protocol counts milliseconds and refuses fractions, so Petrel stores whole
/// milliseconds.
public struct Timestamp: Sendable, Hashable, Comparable {
  /// The times that a value may have: 100,000,000 days before and after 1970, from the year
  /// -271,821 to 275,760. JavaScript has the same range, and `Double` has each millisecond of it.
  public static let storable =
    Timestamp(milliseconds: -8_640_000_000_000_000)...Timestamp(milliseconds: 8_640_000_000_000_000)

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

  /// Creates the millisecond nearest to `date`; nil if the date is not finite or not ``storable``.
  public init?(storing date: Date) {
    guard date.timeIntervalSince1970.isFinite else { return nil }
    self.init(date)
    guard Self.storable.contains(self) else { return nil }
  }

  /// Checks that the time is ``storable``.
  ///
  /// - Throws: ``ModelError`` with ``ModelError/Code/wrongType``.
  func validate(field: String) throws(ModelError) {
    guard Self.storable.contains(self) else {
      throw ModelError(
        .wrongType, field: field,
        "the date \(milliseconds) in '\(field)' is out of range: a date is within "
          + "\(Self.storable.upperBound.milliseconds) milliseconds before or after 1970")
    }
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
