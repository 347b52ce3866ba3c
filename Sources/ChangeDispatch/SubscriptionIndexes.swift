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
    var holds = IndexHolds()
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
  /// its use. Who comes while it is in use waits; those for other databases go side by side.
  ///
  /// When the store fails, what was read so far is kept for the next call.
  func take(for database: DatabaseID) async throws -> DatabaseIndex {
    _ = await hold(database, within: nil)
    let (index, _) = try await takeHeld(database, until: nil)
    return index
  }

  /// Lets `body` look into the index with every subscription that was saved before this call.
  ///
  /// - Parameters:
  ///   - patience: how long to wait for one that is in use.
  ///   - readingTime: how long to read one from the store that is not there yet. What was read so far
  ///     is kept, and the next call goes on with it.
  /// - Returns: nil when the index was in use or was not read to its end in these times.
  func look<Answer>(
    into database: DatabaseID, within patience: Duration, readingFor readingTime: Duration,
    _ body: (DatabaseIndex) -> Answer
  ) async throws -> Answer? {
    guard await hold(database, within: patience) else { return nil }
    let (index, isWhole) = try await takeHeld(database, until: .now + readingTime)
    defer { put(index, for: database) }
    return isWhole ? body(index) : nil
  }

  /// - Returns: whether the index is the caller's now; always without a limit.
  private func hold(_ database: DatabaseID, within patience: Duration?) async -> Bool {
    if state.withLock({ $0.holds.take(database) }) { return true }
    return await withCheckedContinuation { continuation in
      let number = state.withLock { state -> Int? in
        if state.holds.take(database) { return nil }
        return state.holds.wait(for: database) { continuation.resume(returning: $0) }
      }
      guard let number else { return continuation.resume(returning: true) }
      guard let patience else { return }
      Task {
        try? await Task.sleep(for: patience)
        state.withLock { $0.holds.giveUp(number, waitingFor: database) }?()
      }
    }
  }

  private func takeHeld(
    _ database: DatabaseID, until end: ContinuousClock.Instant?
  ) async throws -> (DatabaseIndex, isWhole: Bool) {
    // One that is known is held by nobody else: to change it would otherwise copy it whole.
    var (index, isNew) = state.withLock { state in
      state.shelf.take(database).map { ($0, false) } ?? (DatabaseIndex(), true)
    }
    let start = ContinuousClock.now
    let isWhole: Bool
    do {
      isWhole = try await follow(database, &index, until: end)
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
    return (index, isWhole)
  }

  func put(_ index: DatabaseIndex, for database: DatabaseID) {
    // Those that go are freed after the lock.
    let (_, next) = state.withLock { state in
      (state.shelf.put(index, for: database), state.holds.end(database))
    }
    next?()
  }

  /// Applies what became of subscriptions since the index was current. While a piece is applied the
  /// next one is read.
  ///
  /// - Returns: whether it came to the end before the time was up.
  private func follow(
    _ database: DatabaseID, _ index: inout DatabaseIndex, until end: ContinuousClock.Instant?
  ) async throws -> Bool {
    var changes = try await store.subscriptionChanges(
      in: database, since: index.position, limit: pieceSize)
    while changes.moreComing {
      try Task.checkCancellation()
      let position = changes.position
      async let next = store.subscriptionChanges(in: database, since: position, limit: pieceSize)
      index.apply(changes)
      let bytes = index.bytes
      _ = state.withLock { $0.shelf.note(bytes, of: database) }
      if let end, ContinuousClock.now > end {
        _ = try await next
        return false
      }
      changes = try await next
    }
    index.apply(changes)
    return true
  }
}
