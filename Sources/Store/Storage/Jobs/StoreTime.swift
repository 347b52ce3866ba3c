import Glibc
import Synchronization

/// A sum of the time that the store's threads spend on a caller's jobs, by which the server
/// measures the load of a client's requests. Jobs that run at the same time add the time of each.
///
/// ```swift
/// let time = StoreTime()
/// let records = try await time.counting { try await store.records(…) }
/// print(time.seconds)
/// ```
public final class StoreTime: Sendable {
  /// Nil if the time of the current task's jobs is not counted.
  @TaskLocal static var current: StoreTime?

  private let nanoseconds = Atomic<Int64>(0)

  /// Creates a sum of 0 seconds.
  public init() {}

  /// The sum of seconds so far, without the time in which jobs wait for a thread or for the commit.
  /// SQLite's jobs count by processor time, PostgreSQL's by elapsed time.
  public var seconds: Double { Double(nanoseconds.load(ordering: .relaxed)) / 1e9 }

  /// Adds the time of all store jobs of `body` and its child tasks to the sum. A job that still
  /// runs when `body` has returned adds its time when it ends.
  public func counting<Value: Sendable>(
    _ body: () async throws -> Value
  ) async rethrows -> Value {
    try await Self.$current.withValue(self, operation: body)
  }

  /// - Parameter isElsewhere: whether another process does the work while the thread waits.
  func count<Value>(isElsewhere: Bool, _ job: () throws -> Value) rethrows -> Value {
    let clock = isElsewhere ? CLOCK_MONOTONIC : CLOCK_THREAD_CPUTIME_ID
    let began = Self.nanoseconds(of: clock)
    defer { nanoseconds.add(Self.nanoseconds(of: clock) - began, ordering: .relaxed) }
    return try job()
  }

  private static func nanoseconds(of clock: clockid_t) -> Int64 {
    var time = timespec()
    clock_gettime(clock, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }
}
