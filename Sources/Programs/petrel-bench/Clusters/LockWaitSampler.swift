import Foundation
import Synchronization

/// Looks again and again at what the servers' connections to PostgreSQL wait for.
final class LockWaitSampler: Sendable {
  /// What was seen.
  struct Waits: Sendable {
    var samples = 0
    /// Connections that waited for a lock, over all samples, by the kind of lock.
    var locks: [String: Int] = [:]
    /// Those that waited for the write-ahead log.
    var log = 0
    /// Those that were at work or waited for anything but their client.
    var active = 0

    /// How many connections waited for a lock, in the mean.
    var waiting: Double { Double(locks.values.reduce(0, +)) / Double(max(1, samples)) }
  }

  private struct State {
    var waits = Waits()
    var isEnded = false
  }

  private let state = Mutex(State())
  private let end = DispatchSemaphore(value: 0)
  /// Between two looks, in microseconds.
  private static let pause: UInt32 = 20_000

  /// Starts to look.
  init(_ address: String) throws {
    let probe = try PostgreSQLProbe(address)
    // The thread has it alone.
    nonisolated(unsafe) let handed = probe
    Thread { [self] in
      while !state.withLock({ $0.isEnded }) {
        // A look that fails is no reason to end what is measured.
        if let rows = try? handed.rows(Self.statement) { note(rows) }
        usleep(Self.pause)
      }
      end.signal()
    }.start()
  }

  /// Ends it, and answers what was seen.
  func stop() -> Waits {
    state.withLock { $0.isEnded = true }
    end.wait()
    return state.withLock { $0.waits }
  }

  private static let statement = """
    SELECT coalesce(wait_event_type, ''), coalesce(wait_event, ''), count(*)
    FROM pg_stat_activity WHERE application_name = 'petrel' AND state = 'active' GROUP BY 1, 2
    """

  private func note(_ rows: [[String?]]) {
    state.withLock { state in
      state.waits.samples += 1
      for row in rows {
        let count = row[2].flatMap { Int($0) } ?? 0
        state.waits.active += count
        if row[0] == "Lock" { state.waits.locks[row[1] ?? "", default: 0] += count }
        if row[1]?.hasPrefix("WAL") == true { state.waits.log += count }
      }
    }
  }
}
