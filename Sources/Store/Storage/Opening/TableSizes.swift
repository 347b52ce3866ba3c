import Foundation
import SQLEngine
import StoreModel
import Synchronization

/// The storage that the tables of a store on PostgreSQL use. A background task looks the size up,
/// at most every 30 seconds.
package final class TableSizes: Sendable {
  /// The least number of seconds between two lookups.
  static let age = 30.0

  /// The last result, and the time of the last lookup.
  private struct State {
    /// The last result; nil before the first lookup ends, and after a failed lookup.
    var known: StoreFileSizes?
    /// The time at which the last lookup began; nil before the first lookup.
    var looked: ContinuousClock.Instant?
  }

  private let state = Mutex(State())

  /// Returns the last result; nil before the first lookup ends, and after a failed lookup.
  ///
  /// If the last lookup began at least ``age`` seconds ago, the method starts a new one. It does
  /// not wait for the new result.
  ///
  /// - Parameter look: looks the sizes up.
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

  /// Looks up the storage that all tables use, with their indexes and large values. On a store that
  /// Citus distributes, the result is the sum over all nodes.
  ///
  /// - Parameter isDistributed: whether Citus distributes the tables.
  package static func look(
    over connection: any SQLConnection, isDistributed: Bool
  ) throws -> StoreFileSizes {
    // A distributed table is empty on the node that runs the statement, so PostgreSQL's function
    // would return too little.
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
