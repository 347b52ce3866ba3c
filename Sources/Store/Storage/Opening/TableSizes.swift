import Foundation
import SQLEngine
import StoreModel
import Synchronization

/// The storage used by the tables of a store in PostgreSQL, looked up in the background, at most
/// twice a minute.
package final class TableSizes: Sendable {
  /// The seconds for which a result is valid.
  static let age = 30.0

  /// The last result and the time of its lookup.
  private struct State {
    /// The last result; nil if there is none or the last lookup failed.
    var known: StoreFileSizes?
    /// The time at which the last lookup began.
    var looked: ContinuousClock.Instant?
  }

  private let state = Mutex(State())

  /// Returns the last result; nil before the first lookup ends, and after a failed one.
  ///
  /// - Parameter look: looks the sizes up. It is started if the last result is too old, and not
  ///   waited for.
  func current(
    _ look: @escaping @Sendable () async throws -> StoreFileSizes
  ) -> StoreFileSizes? {
    let now = ContinuousClock.now
    let isDue = state.withLock { state in
      if let looked = state.looked, now - looked < .seconds(Self.age) { return false }
      state.looked = now
      return true
    }
    if isDue {
      Task {
        // A failure is ignored: the metrics then omit the sizes.
        let found = try? await look()
        state.withLock { $0.known = found }
      }
    }
    return state.withLock { $0.known }
  }

  /// Returns the storage used by all tables with their indexes, on all nodes.
  ///
  /// `pg_total_relation_size` includes indexes and large values. On Citus, a function of the
  /// coordinator adds up the sizes of all nodes.
  ///
  /// - Parameter isDistributed: whether Citus distributes the tables.
  package static func look(
    over connection: any SQLConnection, isDistributed: Bool
  ) throws -> StoreFileSizes {
    // On the coordinator, a distributed table is empty.
    let size =
      isDistributed ? "citus_total_relation_size(oid, false)" : "pg_total_relation_size(oid)"
    let bytes = try connection.first(
      """
      SELECT COALESCE(SUM(\(size)), 0)::BIGINT FROM pg_class
      WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')
      """, []
    ) { $0.integer(0) }
    var sizes = StoreFileSizes()
    sizes.database = Int(bytes ?? 0)
    return sizes
  }
}
