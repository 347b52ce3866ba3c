import Glibc
import Synchronization

/// The time that the store's threads spend on a caller's jobs.
///
/// ```swift
/// let time = StoreTime()
/// let records = try await time.counting { try await store.records(…) }
/// print(time.seconds)
/// ```
public final class StoreTime: Sendable {
  @TaskLocal static var current: StoreTime?

  private let nanoseconds = Atomic<Int64>(0)

  public init() {}

  /// The seconds so far. Waiting for a thread, or for the disk at the end of a transaction, does
  /// not count. For a store in a file, neither does waiting for a processor.
  public var seconds: Double { Double(nanoseconds.load(ordering: .relaxed)) / 1e9 }

  /// Runs `body` and counts all its store jobs.
  public func counting<Value: Sendable>(
    _ body: () async throws -> Value
  ) async rethrows -> Value {
    try await Self.$current.withValue(self, operation: body)
  }

  /// Counts a job, on the thread that runs it.
  ///
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
