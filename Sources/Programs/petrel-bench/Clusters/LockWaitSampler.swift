import Foundation
import Synchronization

/// A sampler that counts the connections of Petrel servers that wait in PostgreSQL. A thread of its
/// own reads `pg_stat_activity` every 20 ms.
final class LockWaitSampler: Sendable {
  /// The sums over all samples.
  struct Waits: Sendable {
    var samples = 0
    /// The number of connections that waited for a lock, by the kind of lock.
    var locks: [String: Int] = [:]
    /// The number of connections that waited for the write-ahead log.
    var log = 0
    /// The number of connections that executed a statement. Those that waited count too.
    var active = 0

    /// The number of connections that waited for a lock, on average over the samples.
    var waiting: Double { Double(locks.values.reduce(0, +)) / Double(max(1, samples)) }
  }

  /// The sums and the request to stop, which the thread and the caller share.
  private struct State {
    var waits = Waits()
    var isEnded = false
  }

  private let state = Mutex(State())
  private let end = DispatchSemaphore(value: 0)
  /// The pause between two samples, in microseconds.
  private static let pause: UInt32 = 20_000

  /// Starts the thread, with a connection of its own to PostgreSQL.
  ///
  /// - Throws: `UsageError` if the connection fails.
  init(_ address: String) throws {
    let probe = try PostgreSQLProbe(address)
    // Only the thread uses the connection.
    nonisolated(unsafe) let handed = probe
    Thread { [self] in
      while !state.withLock({ $0.isEnded }) {
        // An error is ignored, because one missing sample does not matter.
        if let rows = try? handed.rows(Self.statement) { note(rows) }
        usleep(Self.pause)
      }
      end.signal()
    }.start()
  }

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
