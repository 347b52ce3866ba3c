import Foundation

/// A histogram of durations from 1 µs to about 50 hours.
///
/// Each range is 2.2 % wide (32 ranges for each doubling). The memory is constant, whatever the
/// number of durations.
public struct DelayHistogram: Sendable {
  /// The ranges for each doubling of the duration.
  private static let perOctave = 32.0
  /// The shortest duration, in seconds; shorter ones count as this one.
  private static let least = 1e-6
  /// The number of durations in each range. The last range also counts all longer durations.
  private var counts = [Int](repeating: 0, count: 1_200)
  /// The number of recorded durations.
  public private(set) var count = 0
  private var sum = 0.0

  /// Creates an empty histogram.
  public init() {}

  /// Records a duration in seconds.
  public mutating func record(_ seconds: Double) {
    let place = log2(max(seconds, Self.least) / Self.least) * Self.perOctave
    counts[min(counts.count - 1, Int(place))] += 1
    count += 1
    sum += seconds
  }

  /// The exact mean in seconds; NaN if the histogram is empty.
  public var mean: Double { count == 0 ? .nan : sum / Double(count) }

  /// Returns a quantile: `quantile(0.99)` is the duration that 99 % of the recorded durations do
  /// not exceed.
  ///
  /// - Parameter share: The fraction (0–1).
  /// - Returns: Seconds, with a relative error of about 1 %; NaN if the histogram is empty.
  public func quantile(_ share: Double) -> Double {
    guard count > 0 else { return .nan }
    var left = Int((share * Double(count)).rounded(.up))
    for (place, count) in counts.enumerated() {
      left -= count
      if left <= 0 { return Self.least * exp2((Double(place) + 0.5) / Self.perOctave) }
    }
    return .nan
  }
}
