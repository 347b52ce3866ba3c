import StoreModel
import Synchronization

/// The matching indexes of the databases that are dispatched, or of the parts of one that this server has.
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

  private let store: any SubscriptionFeed
  private let pieceSize: Int
  private let state: Mutex<State>

  init(store: any SubscriptionFeed, limit: Int, pieceSize: Int) {
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
  func take(for part: DatabasePart) async throws -> DatabaseIndex {
    _ = await hold(part, within: nil)
    let (index, _) = try await takeHeld(part, until: nil)
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
    into part: DatabasePart, within patience: Duration, readingFor readingTime: Duration,
    _ body: (DatabaseIndex) -> Answer
  ) async throws -> Answer? {
    guard await hold(part, within: patience) else { return nil }
    let (index, isWhole) = try await takeHeld(part, until: .now + readingTime)
    defer { put(index, for: part) }
    return isWhole ? body(index) : nil
  }

  /// - Returns: whether the index is the caller's now; always without a limit.
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
        // Nothing cancels this task.
        try? await Task.sleep(for: patience)
        state.withLock { $0.holds.giveUp(number, waitingFor: part) }?()
      }
    }
  }

  private func takeHeld(
    _ part: DatabasePart, until end: ContinuousClock.Instant?
  ) async throws -> (DatabaseIndex, isWhole: Bool) {
    // One that is known is held by nobody else: to change it would otherwise copy it whole.
    var (index, isNew) = state.withLock { state in
      state.shelf.take(part).map { ($0, false) } ?? (DatabaseIndex(), true)
    }
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

  func put(_ index: DatabaseIndex, for part: DatabasePart) {
    // Those that go are freed after the lock.
    let (_, next) = state.withLock { state in
      (state.shelf.put(index, for: part), state.holds.end(part))
    }
    next?()
  }

  /// Frees an index that is not in use: another server dispatches the part.
  func forget(_ part: DatabasePart) {
    _ = state.withLock { $0.shelf.drop(part) }
  }

  /// Applies what became of subscriptions since the index was current. While a piece is applied the
  /// next one is read.
  ///
  /// - Returns: whether it came to the end before the time was up.
  private func follow(
    _ part: DatabasePart, _ index: inout DatabaseIndex, until end: ContinuousClock.Instant?
  ) async throws -> Bool {
    // Of what is read of a divided database only its share is in the part.
    let pieceSize = pieceSize * part.count
    var changes = try await store.subscriptionChanges(
      in: part, since: index.position, limit: pieceSize)
    while changes.moreComing {
      try Task.checkCancellation()
      let position = changes.position
      async let next = store.subscriptionChanges(in: part, since: position, limit: pieceSize)
      index.apply(changes)
      let bytes = index.bytes
      _ = state.withLock { $0.shelf.note(bytes, of: part) }
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
