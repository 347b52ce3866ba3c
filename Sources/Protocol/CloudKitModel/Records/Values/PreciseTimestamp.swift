import Foundation

/// A date of an encrypted field, exactly as the app has set it.
///
/// The server's times are whole milliseconds, so that it can search and sort by them. It does neither with
/// encrypted fields. Apps compare such dates with their own, which are finer.
public struct PreciseTimestamp: Sendable, Hashable {
  /// The nearest whole millisecond.
  public var timestamp: Timestamp
  /// The seconds from ``timestamp`` to the date: at most a millisecond, before or after.
  public var remainder: Double

  /// Creates a date.
  public init(timestamp: Timestamp, remainder: Double) {
    self.timestamp = timestamp
    self.remainder = remainder
  }

  /// Creates the value of a date.
  public init(_ date: Date) {
    timestamp = Timestamp(date)
    // The difference of two numbers of about the same size is exact, and so is the later sum.
    remainder =
      date.timeIntervalSinceReferenceDate - timestamp.date.timeIntervalSinceReferenceDate
  }

  /// The date.
  public var date: Date {
    Date(
      timeIntervalSinceReferenceDate: timestamp.date.timeIntervalSinceReferenceDate + remainder)
  }
}

extension RecordValue {
  /// Creates the value of a date in an encrypted field.
  public init(preciselyEncoding date: Date) {
    let precise = PreciseTimestamp(date)
    self = precise.remainder == 0 ? .timestamp(precise.timestamp) : .preciseTimestamp(precise)
  }

  /// Whether the value is a date that is not a whole millisecond, or a list with one.
  public var isPrecise: Bool {
    switch self {
    case .preciseTimestamp: true
    case .list(of: .timestamp, let values): values.contains { $0.isPrecise }
    case .string, .int64, .double, .timestamp, .bytes, .location, .reference, .asset, .list: false
    }
  }
}
