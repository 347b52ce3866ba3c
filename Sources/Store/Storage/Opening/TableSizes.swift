import Foundation
import SQLEngine
import StoreModel
import Synchronization

/// What the tables of a store in PostgreSQL take, looked up beside those who ask and at most twice a
/// minute.
package final class TableSizes: Sendable {
  /// Seconds that an answer is good for.
  static let age = 30.0

  private struct State {
    var known: StoreFileSizes?
    var looked: ContinuousClock.Instant?
  }

  private let state = Mutex(State())

  /// What is known; nil before the first look is over, and after one that failed.
  ///
  /// - Parameter look: is begun when it is time for another look, and not waited for.
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
        // Without sizes the metrics leave them out.
        let found = try? await look()
        state.withLock { $0.known = found }
      }
    }
    return state.withLock { $0.known }
  }

  /// What all tables take with their indexes, on all nodes.
  package static func look(
    over connection: any SQLConnection, isDistributed: Bool
  ) throws -> StoreFileSizes {
    // A distributed table is empty where it is defined.
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
