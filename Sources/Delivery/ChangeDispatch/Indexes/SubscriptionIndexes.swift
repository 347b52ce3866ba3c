import StoreModel
import Synchronization

/// The matching indexes of the databases that are dispatched, or of this server's parts of them.
///
/// All data of an index are also in the store. The index is read from the store in pieces when a
/// database is first dispatched. Before a later use, the changes of subscriptions since the last
/// reading are applied if the caller needs them. An index is removed from memory (*evicted*) when
/// others need the memory.
///
/// A lock protects the cache. One caller at a time uses an index.
final class SubscriptionIndexes: Sendable {
  /// The counters and sizes of the indexes.
  struct Metrics: Sendable, Hashable {
    var count = 0
    /// Their approximate memory in bytes.
    var bytes = 0
    /// The number of indexes that were read from the store.
    var loads = 0
    var loadSeconds = 0.0
    var evictions = 0
  }

  /// The state under the lock.
  private struct State {
    var cache: SubscriptionIndexCache
    /// The record of the indexes in use, and of the callers that wait for them.
    var holds = IndexHolds()
    /// The number of indexes that were read from the store.
    var loads = 0
    var loadTime = Duration.zero
  }

  /// The number of subscriptions that one call reads from the store: some milliseconds of work for
  /// the store and the index.
  static let pieceSize = 1_000

  private let store: any SubscriptionFeed
  private let pieceSize: Int
  private let state: Mutex<State>

  /// Creates the set of indexes, empty.
  ///
  /// - Parameter limit: The greatest memory of all indexes in bytes.
  init(store: any SubscriptionFeed, limit: Int, pieceSize: Int) {
    self.store = store
    self.pieceSize = pieceSize
    state = Mutex(State(cache: SubscriptionIndexCache(limit: limit)))
  }

  var metrics: Metrics {
    state.withLock { state in
      Metrics(
        count: state.cache.count, bytes: state.cache.bytes, loads: state.loads,
        loadSeconds: state.loadTime / .seconds(1), evictions: state.cache.evictions)
    }
  }

  /// Returns the index with every change of subscriptions up to a subscription version.
  ///
  /// An index that has them is not compared with the store. The transaction that writes the
  /// notifications leaves out subscriptions that were deleted since.
  ///
  /// The caller must return the index with ``put(_:for:)``. Until then, other callers for the same
  /// index wait. Indexes of other databases are used concurrently.
  ///
  /// - Throws: The error of the store, or `CancellationError`. The pieces that were read stay in
  ///   memory, and the next call continues after them.
  func take(for part: DatabasePart, through version: Int64) async throws -> DatabaseIndex {
    _ = await hold(part, within: nil)
    let (index, _) = try await takeHeld(part, through: version, until: nil)
    return index
  }

  /// Calls `body` with the index, which has every subscription that was saved before this call.
  ///
  /// - Parameters:
  ///   - patience: The time for which the call waits for an index in use.
  ///   - readingTime: The time after which the call stops reading pieces of a missing index from
  ///     the store. The pieces stay in memory, and the next call continues after them.
  /// - Returns: `nil` if the index was in use, or was not completely read, within these times.
  func look<Answer>(
    into part: DatabasePart, within patience: Duration, readingFor readingTime: Duration,
    _ body: (DatabaseIndex) -> Answer
  ) async throws -> Answer? {
    guard await hold(part, within: patience) else { return nil }
    let (index, isWhole) = try await takeHeld(
      part, through: .max, until: .now + readingTime)
    defer { put(index, for: part) }
    return isWhole ? body(index) : nil
  }

  /// Waits until the index is not in use, and marks it as in use by the caller.
  ///
  /// - Parameter patience: The greatest time to wait; `nil` for no limit.
  /// - Returns: `true` if the caller has the index now; always `true` without a limit.
  private func hold(_ part: DatabasePart, within patience: Duration?) async -> Bool {
    if state.withLock({ $0.holds.take(part) }) { return true }
    return await withCheckedContinuation { continuation in
      let number = state.withLock { state -> Int? in
        if state.holds.take(part) { return nil }
        return state.holds.wait(for: part) { continuation.resume(returning: $0) }
      }
      guard let number else { return continuation.resume(returning: true) }
      guard let patience else { return }
      Task {
        // This task is never cancelled.
        try? await Task.sleep(for: patience)
        state.withLock { $0.holds.giveUp(number, waitingFor: part) }?()
      }
    }
  }

  /// Takes an index from the cache, and applies the changes of subscriptions that it lacks. The caller
  /// must have called ``hold(_:within:)``.
  ///
  /// - Parameters:
  ///   - version: The subscription version of which the caller needs all changes.
  ///   - end: The time at which the reading stops; `nil` for no limit.
  /// - Returns: The index, and whether it has all subscriptions.
  private func takeHeld(
    _ part: DatabasePart, through version: Int64, until end: ContinuousClock.Instant?
  ) async throws -> (DatabaseIndex, isWhole: Bool) {
    // There must be no other copy of the index, because a change would then copy the whole index.
    var (index, isNew) = state.withLock { state in
      state.cache.take(part).map { ($0, false) } ?? (DatabaseIndex(), true)
    }
    if !isNew, index.position.version >= version { return (index, true) }
    let start = ContinuousClock.now
    let isWhole: Bool
    do {
      isWhole = try await follow(part, &index, until: end)
    } catch {
      put(index, for: part)
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

  /// Stores an index after its use, and resumes the next waiting caller.
  func put(_ index: DatabaseIndex, for part: DatabasePart) {
    // Evicted indexes are freed outside of the lock.
    let (_, next) = state.withLock { state in
      (state.cache.put(index, for: part), state.holds.end(part))
    }
    next?()
  }

  /// Frees an index of a part that this server no longer dispatches. An index in use stays.
  func forget(_ part: DatabasePart) {
    _ = state.withLock { $0.cache.drop(part) }
  }

  /// Reads the changes of subscriptions after the position of the index, and applies them. While a
  /// piece is applied, the next one is read.
  ///
  /// - Returns: `true` if all changes were applied; `false` if `end` came first.
  private func follow(
    _ part: DatabasePart, _ index: inout DatabaseIndex, until end: ContinuousClock.Instant?
  ) async throws -> Bool {
    // A part has only about 1/`part.count` of the subscriptions of a divided database.
    let pieceSize = pieceSize * part.count
    var changes = try await store.subscriptionChanges(
      in: part, since: index.position, limit: pieceSize)
    while changes.moreComing {
      try Task.checkCancellation()
      let position = changes.position
      async let next = store.subscriptionChanges(in: part, since: position, limit: pieceSize)
      index.apply(changes)
      let bytes = index.bytes
      _ = state.withLock { $0.cache.setSize(bytes, of: part) }
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
