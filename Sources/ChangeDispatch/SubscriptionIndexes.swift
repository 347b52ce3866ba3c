import Storage
import Synchronization

/// The matching indexes of the databases that are dispatched.
///
/// An index holds nothing that the store does not: it is read from there when a database is first
/// dispatched, in pieces, follows the database's subscription version, and goes when memory is
/// needed for others.
final class SubscriptionIndexes: Sendable {
  /// How the indexes are doing.
  struct Metrics: Sendable, Hashable {
    var count = 0
    var bytes = 0
    var loads = 0
    var loadSeconds = 0.0
    var evictions = 0
  }

  private struct State {
    var shelf: IndexShelf
    var loads = 0
    var loadTime = Duration.zero
  }

  /// Subscriptions that are read at once: some milliseconds' work for the reader and for the index.
  static let pieceSize = 1_000

  private let store: any RecordStore
  private let pieceSize: Int
  private let state: Mutex<State>

  init(store: any RecordStore, limit: Int, pieceSize: Int) {
    self.store = store
    self.pieceSize = pieceSize
    state = Mutex(State(shelf: IndexShelf(limit: limit)))
  }

  var metrics: Metrics {
    state.withLock { state in
      Metrics(
        count: state.shelf.count, bytes: state.shelf.bytes, loads: state.loads,
        loadSeconds: state.loadTime / .seconds(1), evictions: state.shelf.evictions)
    }
  }

  /// Gives the index with every subscription that was saved before this call, to be put back after
  /// its use.
  ///
  /// Calls for one database must not overlap; those for others go side by side. When the store
  /// fails, what was read so far is kept for the next call.
  func take(for database: DatabaseID) async throws -> DatabaseIndex {
    // One that is known is held by nobody else: to change it would otherwise copy it whole.
    var (index, isNew) = state.withLock { state in
      state.shelf.take(database).map { ($0, false) } ?? (DatabaseIndex(), true)
    }
    let start = ContinuousClock.now
    do {
      try await follow(database, &index)
    } catch {
      put(index, for: database)
      throw error
    }
    if isNew {
      let time = ContinuousClock.now - start
      state.withLock { state in
        state.loads += 1
        state.loadTime += time
      }
    }
    return index
  }

  func put(_ index: DatabaseIndex, for database: DatabaseID) {
    // Those that go are freed after the lock.
    _ = state.withLock { $0.shelf.put(index, for: database) }
  }

  /// Applies what became of subscriptions since the index was current. While a piece is applied the
  /// next one is read.
  private func follow(_ database: DatabaseID, _ index: inout DatabaseIndex) async throws {
    var changes = try await store.subscriptionChanges(
      in: database, since: index.position, limit: pieceSize)
    while changes.moreComing {
      try Task.checkCancellation()
      let position = changes.position
      async let next = store.subscriptionChanges(in: database, since: position, limit: pieceSize)
      index.apply(changes)
      let bytes = index.bytes
      _ = state.withLock { $0.shelf.note(bytes, of: database) }
      changes = try await next
    }
    index.apply(changes)
  }
}
