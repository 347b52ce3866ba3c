/// The number of values in fixed ranges, as Prometheus counts them. It is a value without a lock.
///
/// ```swift
/// var delays = Histogram(bounds: Histogram.seconds)
/// delays.record(0.012)
/// ```
public struct Histogram: Sendable, Hashable {
  /// Bounds from half a millisecond to ten seconds, for times that a user waits.
  public static let seconds = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
  ]
  /// Bounds from a millisecond to a day in seconds, for times in a queue.
  public static let longSeconds = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 10, 60, 300, 3600, 86_400,
  ]

  /// The greatest value of each range, rising. Values above the last bound have a range of their
  /// own.
  public let bounds: [Double]
  /// The number of values in each range; one range more than there are bounds.
  public private(set) var counts: [Int]
  /// The sum of all values.
  public private(set) var sum = 0.0

  /// Creates a histogram without values.
  ///
  /// - Precondition: the bounds rise.
  public init(bounds: [Double]) {
    precondition(
      zip(bounds, bounds.dropFirst()).allSatisfy { $0 < $1 },
      "the bounds must be in ascending order")
    self.bounds = bounds
    counts = [Int](repeating: 0, count: bounds.count + 1)
  }

  /// The number of values.
  public var count: Int { counts.reduce(0, +) }

  /// Counts a value. A negative one, as from a clock that was set back, counts as 0; NaN does not
  /// count.
  ///
  /// - Parameter times: the number of times that the value occurred. Zero or less does nothing.
  /// - Complexity: O(*n*) in the number of bounds, which are few.
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
