import Foundation

/// The measured times of a benchmark, in seconds, with their mean and quantiles.
struct Percentiles {
  private let sorted: [Double]

  init(_ seconds: [Double]) {
    sorted = seconds.sorted()
  }

  var count: Int { sorted.count }

  /// The mean in seconds; 0 if nothing was measured.
  var mean: Double { sorted.isEmpty ? 0 : sorted.reduce(0, +) / Double(sorted.count) }

  /// Returns the time that at least a fraction of the measured times does not exceed; 0 if nothing
  /// was measured.
  ///
  /// - Parameter share: The fraction (0–1); 1 gives the longest time.
  func quantile(_ share: Double) -> Double {
    guard !sorted.isEmpty else { return 0 }
    return sorted[min(sorted.count - 1, Int(share * Double(sorted.count)))]
  }

  func text(_ share: Double) -> String {
    String(format: "%.2f ms", quantile(share) * 1000)
  }
}

/// Returns the seconds of the system's monotonic clock. Changes of the system time do not affect
/// this clock.
func monotonicSeconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_MONOTONIC, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
