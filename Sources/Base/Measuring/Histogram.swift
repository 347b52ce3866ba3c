/// How often values fell into fixed ranges, as Prometheus counts them: a value.
///
/// ```swift
/// var delays = Histogram(bounds: Histogram.seconds)
/// delays.record(0.012)
/// ```
public struct Histogram: Sendable, Hashable {
  /// Seconds from half a millisecond to ten, for what somebody waits for.
  public static let seconds = [
    0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
  ]
  /// Seconds from a millisecond to a day, for what may lie in a queue for long.
  public static let longSeconds = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5, 10, 60, 300, 3600, 86_400,
  ]

  /// The greatest value of each range, rising. What is above the last one has a range of its own.
  public let bounds: [Double]
  /// How many values fell into each range; one more than there are bounds.
  public private(set) var counts: [Int]
  public private(set) var sum = 0.0

  /// - Precondition: the bounds rise.
  public init(bounds: [Double]) {
    precondition(zip(bounds, bounds.dropFirst()).allSatisfy { $0 < $1 }, "the bounds must rise")
    self.bounds = bounds
    counts = [Int](repeating: 0, count: bounds.count + 1)
  }

  /// How many values there were.
  public var count: Int { counts.reduce(0, +) }

  /// Counts a value. One below 0, as from a clock that was set back, counts as 0; what is no number
  /// does not count.
  ///
  /// - Parameter times: how often it occurred.
  /// - Complexity: O(*n*) for *n* bounds, which are few.
  public mutating func record(_ value: Double, times: Int = 1) {
    guard !value.isNaN, times > 0 else { return }
    let value = max(0, value)
    var place = 0
    while place < bounds.count, value > bounds[place] { place += 1 }
    counts[place] += times
    sum += value * Double(times)
  }

  /// Counts what was counted elsewhere.
  ///
  /// - Precondition: both have the same bounds.
  public mutating func add(_ other: Histogram) {
    precondition(bounds == other.bounds, "histograms with other bounds cannot be added")
    for place in counts.indices { counts[place] += other.counts[place] }
    sum += other.sum
  }
}
