import CloudKitModel
import StoreModel
import Synchronization

/// The latest notifications that were logged, for those who watch.
///
/// A reader has space for some of them; what comes beyond it until it is read is left out and
/// counted. Nobody is waited for.
package final class LivePushes: Sendable {
  /// Notifications that are remembered for who comes later.
  static let memory = 500
  /// Notifications that wait for a reader.
  static let limit = 200
  /// Readers at once.
  static let readerLimit = 50

  /// What a reader has not read yet.
  struct Batch: Sendable {
    var entries: [LogEntry] = []
    /// How many more there were.
    var leftOut = 0
  }

  private struct State {
    /// In the order of the log, the latest last.
    var latest: [LogEntry] = []
    var readers: [Int: Batch] = [:]
    var nextReader = 0
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
      // Rarely, for it moves all of them.
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

  /// Begins to gather for a reader; nil when there are too many, or the server stops.
  func beginReading() -> Int? {
    state.withLock { state in
      guard state.readers.count < Self.readerLimit, !state.isClosed else { return nil }
      state.nextReader += 1
      state.readers[state.nextReader] = Batch()
      return state.nextReader
    }
  }

  /// What came since the last call; nil when the server stops.
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

  func close() {
    state.withLock { $0.isClosed = true }
  }
}
