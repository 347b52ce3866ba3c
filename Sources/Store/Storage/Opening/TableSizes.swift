import Foundation
import SQLEngine
import Synchronization

/// The storage that the tables on PostgreSQL use, looked up in the background.
package final class TableSizes: Sendable {
  /// In seconds.
  static let age = 30.0

  /// The result and the time of the last lookup.
  private struct State {
    var known: StoreFileSizes?
    var looked: ContinuousClock.Instant?
  }

  private let state = Mutex(State())

  /// Starts a lookup after ``age``, and does not wait for it.
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

  /// Counts indexes and large values; on a store that Citus distributes, over all nodes.
  package static func look(
    over connection: any SQLConnection, isDistributed: Bool
  ) throws -> StoreFileSizes {
    // A distributed table is empty on the node that runs the statement, so PostgreSQL's function
    // would return too little.
    let size =
      isDistributed ? "citus_total_relation_size(oid, false)" : "pg_total_relation_size(oid)"
    let bytes = try connection.integer(
      """
      SELECT COALESCE(SUM(\(size)), 0)::BIGINT FROM pg_class
      WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')
      """, []
    )
    var sizes = StoreFileSizes()
    sizes.database = Int(bytes ?? 0)
    return sizes
  }
}
