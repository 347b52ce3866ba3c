/// A count of values by fixed ranges, as Prometheus uses it. The type has no lock.
///
/// ```swift
/// var delays = Histogram(bounds: Histogram.seconds)
/// delays.record(0.012)
/// ```
public struct Histogram: Sendable, Hashable {
  /// Bounds in seconds, from half a millisecond to ten seconds, for times that a user waits.
  public static let seconds = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
  ]
  /// Bounds in seconds, from a millisecond to a day, for times in a queue.
  public static let longSeconds = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 10, 60, 300, 3600, 86_400,
  ]

  /// The greatest value of each range, in ascending order. One more range has the values above the
  /// last bound.
  public let bounds: [Double]
  /// The number of values in each range. There is one range more than bounds.
  public private(set) var counts: [Int]
  /// The sum of all values.
  public private(set) var sum = 0.0

  /// Creates a histogram without values.
  ///
  /// - Precondition: the bounds are in ascending order, without repetition.
  public init(bounds: [Double]) {
    precondition(
      zip(bounds, bounds.dropFirst()).allSatisfy { $0 < $1 },
      "the bounds must be in ascending order")
    self.bounds = bounds
    counts = [Int](repeating: 0, count: bounds.count + 1)
  }

  /// The number of values.
  public var count: Int { counts.reduce(0, +) }

  /// Counts a value. A negative value, which a clock that was set back may cause, counts as 0. NaN
  /// does not count.
  ///
  /// - Parameter times: the number of times that the value occurred. Zero or less does nothing.
  /// - Complexity: O(*n*), where *n* is the number of bounds.
  public mutating func record(_ value: Double, times: Int = 1) {
    guard !value.isNaN, times > 0 else { return }
    let value = max(0, value)
    var place = 0
    while place < bounds.count, value > bounds[place] { place += 1 }
    counts[place] += times
    sum += value * Double(times)
  }

  /// Adds the counts of another histogram.
  ///
  /// - Precondition: both have the same bounds.
  public mutating func add(_ other: Histogram) {
    precondition(bounds == other.bounds, "histograms with other bounds cannot be added")
    for place in counts.indices { counts[place] += other.counts[place] }
    sum += other.sum
  }
}
