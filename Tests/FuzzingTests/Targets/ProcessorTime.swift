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

  /// Returns the description of a growth that is too fast; `nil` if the time grows no faster than
  /// the size times its logarithm.
  ///
  /// The work runs once. Only if that takes long, it also runs with a quarter of the size, with a
  /// 16th and a 64th, and once more. The quicker of the last two times is subtracted from the
  /// others, because most of it is the same for each size. (The 64th alone may take longer than the
  /// quarter: a password that is short enough is hashed.)
  ///
  /// Four times the size may take 4 × log(size) / log(size / 4) as long. The limit is twice that,
  /// because measurements vary: other programs use a share of the processor's caches, and a large
  /// input leaves the caches where its quarter does not. Work that grows with the square takes 16
  /// times as long.
  static func fault(
    size: Int, _ work: (_ size: Int) async throws -> Void
  ) async rethrows -> String? {
    try await faultInTimes(size: size) { size in try await milliseconds { try await work(size) } }
  }

  /// The same of work that measures itself, so that what has to be done before it does not count.
  ///
  /// - Parameter measured: Does the work on an input of a size, and answers with the milliseconds that it took.
  static func faultInTimes(
    size: Int, _ measured: (_ size: Int) async throws -> Double
  ) async rethrows -> String? {
    guard try await measured(size) > floor else { return nil }
    let quarter = size / 4
    let permitted = 2 * 4 * log(Double(size)) / log(Double(quarter))
    var least = (whole: Double.infinity, quarter: Double.infinity, little: Double.infinity)
    // What else runs on the machine has a share of the caches: the best of several counts.
    for _ in 0..<8 {
      for part in [64, 16] { least.little = min(least.little, try await measured(size / part)) }
      least.quarter = min(least.quarter, try await measured(quarter))
      least.whole = min(least.whole, try await measured(size))
      let smaller = max(least.quarter - least.little, floor / 8)
      if least.whole - least.little <= max(floor, permitted * smaller) { return nil }
    }
    return String(
      format: "%d bytes take %.0f ms of processor time, %d bytes %.0f ms", quarter, least.quarter,
      size, least.whole)
  }
}
