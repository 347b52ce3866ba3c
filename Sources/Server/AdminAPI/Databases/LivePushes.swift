import CloudKitModel
import StoreModel
import Synchronization

/// The latest logged notifications, in memory, for the console's list and its event streams.
///
/// Each reader has a buffer of limited size. If a notification does not fit, the object leaves it
/// out of that buffer and counts it. So a slow reader never delays the dispatcher. A `Mutex`
/// protects the state.
package final class LivePushes: Sendable {
  /// The number of notifications that ``latest`` contains at least, if that many were logged. It
  /// contains at most twice as many.
  static let memory = 500
  /// The maximum number of notifications in a reader's buffer.
  static let limit = 200
  static let readerLimit = 50

  /// The content of a reader's buffer.
  struct Batch: Sendable {
    var entries: [LogEntry] = []
    /// The number of notifications that did not fit since the buffer was last emptied.
    var leftOut = 0
  }

  /// The protected state.
  private struct State {
    /// The latest notifications in the order of the log; at most twice ``LivePushes/memory``.
    var latest: [LogEntry] = []
    var readers: [Int: Batch] = [:]
    var nextReader = 0
    /// Whether the server stops. It never becomes false again.
    var isClosed = false
  }

  private let state = Mutex(State())

  package init() {}

  /// The latest notifications, newest first.
  var latest: [LogEntry] { state.withLock { $0.latest.reversed() } }

  package func add(_ entries: [LogEntry]) {
    guard !entries.isEmpty else { return }
    state.withLock { state in
      state.latest += entries.suffix(Self.memory)
      // The limit of twice the number makes this removal rare, because it moves all remaining
      // elements.
      if state.latest.count > 2 * Self.memory {
        state.latest.removeFirst(state.latest.count - Self.memory)
      }
      for reader in state.readers.keys {
        let free = Self.limit - (state.readers[reader]?.entries.count ?? 0)
        state.readers[reader]?.entries += entries.prefix(max(0, free))
        state.readers[reader]?.leftOut += max(0, entries.count - max(0, free))
      }
    }
  }

  /// Returns a new reader's number; nil if there are ``readerLimit`` readers or the server stops.
  func beginReading() -> Int? {
    state.withLock { state in
      guard state.readers.count < Self.readerLimit, !state.isClosed else { return nil }
      state.nextReader += 1
      state.readers[state.nextReader] = Batch()
      return state.nextReader
    }
  }

  /// Returns the notifications since the last call and empties the buffer. Nil means that the
  /// server stops, or that the reader was removed.
  func nextBatch(for reader: Int) -> Batch? {
    state.withLock { state in
      guard !state.isClosed, let batch = state.readers[reader] else { return nil }
      state.readers[reader] = Batch()
      return batch
    }
  }

  func endReading(_ reader: Int) {
    state.withLock { $0.readers[reader] = nil }
  }

  /// Makes ``nextBatch(for:)`` and ``beginReading()`` return nil from now on.
  func close() {
    state.withLock { $0.isClosed = true }
  }
}
