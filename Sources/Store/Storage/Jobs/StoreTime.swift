import Glibc
import Synchronization

/// A sum of the time that the store's threads spend on a caller's jobs.
///
/// The server uses it to charge requests for the load that they cause. Several jobs may run at the
/// same time: their times add up.
///
/// ```swift
/// let time = StoreTime()
/// let records = try await time.counting { try await store.records(…) }
/// print(time.seconds)
/// ```
public final class StoreTime: Sendable {
  /// The sum to which jobs of the current task are added; nil if they are not counted.
  @TaskLocal static var current: StoreTime?

  private let nanoseconds = Atomic<Int64>(0)

  /// Creates a sum of 0 seconds.
  public init() {}

  /// The seconds so far. Waiting for a thread, or for the disk at the end of a transaction, does
  /// not count. For a store in a file, neither does waiting for a processor.
  public var seconds: Double { Double(nanoseconds.load(ordering: .relaxed)) / 1e9 }

  /// Runs `body` and counts all its store jobs.
  ///
  /// Child tasks of `body` count as well. Jobs that still run when `body` has returned are added
  /// later.
  public func counting<Value: Sendable>(
    _ body: () async throws -> Value
  ) async rethrows -> Value {
    try await Self.$current.withValue(self, operation: body)
  }

  /// Counts a job, on the thread that runs it.
  ///
  /// For a store in a file, the clock is the processor time of the thread. PostgreSQL works in
  /// another process, so there the elapsed time counts.
  ///
  /// - Parameter isElsewhere: whether another process does the work while the thread waits.
  func count<Value>(isElsewhere: Bool, _ job: () throws -> Value) rethrows -> Value {
    let clock = isElsewhere ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID
    let began = Self.nanoseconds(of: clock)
    defer { nanoseconds.add(Self.nanoseconds(of: clock) - began, ordering: .relaxed) }
    return try job()
  }

  /// The reading of a clock of the system.
  private static func nanoseconds(of clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}
