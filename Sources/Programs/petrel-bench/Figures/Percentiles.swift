import Foundation

/// A set of measured times.
struct Percentiles {
  private let sorted: [Double]

  /// - Parameter seconds: in any order.
  init(_ seconds: [Double]) {
    sorted = seconds.sorted()
  }

  var count: Int { sorted.count }

  var mean: Double { sorted.isEmpty ? 0 : sorted.reduce(0, +) / Double(sorted.count) }

  /// The time that this share of the measured ones does not pass; 0 when nothing was measured.
  func quantile(_ share: Double) -> Double {
    guard !sorted.isEmpty else { return 0 }
    return sorted[min(sorted.count - 1, Int(share * Double(sorted.count)))]
  }

  /// The quantile in milliseconds, for a table.
  func text(_ share: Double) -> String {
    String(format: "%.2f ms", quantile(share) * 1000)
  }
}

/// Seconds on a clock that only goes forward.
func monotonicSeconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
