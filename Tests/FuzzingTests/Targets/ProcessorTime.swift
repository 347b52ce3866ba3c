import Foundation

/// How much processor time work takes, and whether that grows as the work does.
enum ProcessorTime {
  /// Milliseconds below which no growth is looked at.
  static let floor = 40.0

  /// Milliseconds of this process's processor time that `work` takes.
  static func milliseconds(_ work: () async throws -> Void) async rethrows -> Double {
    let start = now(CLOCK_PROCESS_CPUTIME_ID)
    try await work()
    return now(CLOCK_PROCESS_CPUTIME_ID) - start
  }

  /// Milliseconds of this thread's processor time that `work` takes.
  static func ofThread(_ work: () -> Void) -> Double {
    let start = now(CLOCK_THREAD_CPUTIME_ID)
    work()
    return now(CLOCK_THREAD_CPUTIME_ID) - start
  }

  private static func now(_ clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) * 1_000 + Double(time.tv_nsec) / 1_000_000
  }

  /// What is wrong with how work on an input of `size` bytes grows; nil where it grows no faster than
  /// the size times its logarithm.
  ///
  /// The work is done once. Only where it takes long it is done with a quarter of the size too, with
  /// a 64th, and again: what a 64th takes is taken off both, for most of that is the same for each size.
  /// Four times the size may take 4 × log(size) / log(size / 4) as long, and half as long again for what a
  /// measurement is off by; twice as long from a megabyte on, where the processor's caches hold the quarter and
  /// not the whole. Work that grows with the square takes 16 times as long.
  static func fault(
    size: Int, _ work: (_ size: Int) async throws -> Void
  ) async rethrows -> String? {
    guard try await milliseconds({ try await work(size) }) > floor else { return nil }
    let quarter = size / 4
    let allowance = size < 1 << 20 ? 1.5 : 2
    let permitted = 4 * log(Double(size)) / log(Double(quarter)) * allowance
    var least = (whole: Double.infinity, quarter: Double.infinity, little: Double.infinity)
    // What else runs on the machine has a share of the caches: the best of several counts.
    for _ in 0..<8 {
      least.little = min(least.little, try await milliseconds { try await work(size / 64) })
      least.quarter = min(least.quarter, try await milliseconds { try await work(quarter) })
      least.whole = min(least.whole, try await milliseconds { try await work(size) })
      let smaller = max(least.quarter - least.little, floor / 8)
      if least.whole - least.little <= max(floor, permitted * smaller) { return nil }
    }
    return String(
      format: "%d bytes take %.0f ms of processor time, %d bytes %.0f ms", quarter, least.quarter,
      size, least.whole)
  }
}
