import Glibc
import Synchronization

/// A sum of the time that the store's threads spend on a caller's jobs.
///
/// The server measures by it how much load a client's requests cause. Several jobs of a caller may
/// run at the same time; the sum then has the time of each.
///
/// ```swift
/// let time = StoreTime()
/// let records = try await time.counting { try await store.records(…) }
/// print(time.seconds)
/// ```
public final class StoreTime: Sendable {
  /// The sum to which jobs of the current task add their time; nil if their time is not counted.
  @TaskLocal static var current: StoreTime?

  private let nanoseconds = Atomic<Int64>(0)

  /// Creates a sum of 0 seconds.
  public init() {}

  /// The sum of seconds so far. The time that a job waits for a thread or for the commit does not
  /// count. For SQLite, only the time on a processor counts. For PostgreSQL, all the elapsed time
  /// of a job counts.
  public var seconds: Double { Double(nanoseconds.load(ordering: .relaxed)) / 1e9 }

  /// Runs `body`, and adds the time of all its store jobs to the sum. Jobs of child tasks count,
  /// too.
  ///
  /// A job that still runs when `body` has returned adds its time when it ends.
  public func counting<Value: Sendable>(
    _ body: () async throws -> Value
  ) async rethrows -> Value {
    try await Self.$current.withValue(self, operation: body)
  }

  /// Runs a job on the calling thread, and adds its time to the sum.
  ///
  /// SQLite works on the calling thread, so the thread's processor time counts. PostgreSQL works in
  /// another process, so the elapsed time counts.
  ///
  /// - Parameter isElsewhere: whether another process does the work while the thread waits.
  func count<Value>(isElsewhere: Bool, _ job: () throws -> Value) rethrows -> Value {
    let clock = isElsewhere ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID
    let began = Self.nanoseconds(of: clock)
    defer { nanoseconds.add(Self.nanoseconds(of: clock) - began, ordering: .relaxed) }
    return try job()
  }

  /// Returns the present time of one of the system's clocks, in nanoseconds.
  private static func nanoseconds(of clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}
