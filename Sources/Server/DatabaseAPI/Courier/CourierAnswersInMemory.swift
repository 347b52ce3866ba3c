import StoreModel
import Synchronization

/// The last answers of web courier readers in memory, for a server that uses its store alone.
///
/// They are lost at a restart, so a reader may then get its last notification again.
final class CourierAnswersInMemory: CourierAnswers {
  /// The most answers in memory. At the limit all are dropped, so their readers may get a
  /// notification again.
  private static let capacity = 100_000

  /// The cursors of the readers.
  private let store: any CourierStore
  /// The entries that were sent last, by the token of their reader.
  private let entries = Mutex<[String: LogEntry]>([:])

  init(store: any CourierStore) {
    self.store = store
  }

  func keepCourierAnswer(_ entry: LogEntry, forToken token: String) async {
    entries.withLock { entries in
      if entries.count >= Self.capacity { entries.removeAll() }
      entries[token] = entry
    }
  }

  func withdrawCourierAnswer(_ entry: LogEntry, forToken token: String) async {
    entries.withLock { entries in
      if entries[token] == entry { entries[token] = nil }
    }
  }

  func acknowledgeCourierAnswer(ofToken token: String) async throws {
    guard let entry = entries.withLock({ $0.removeValue(forKey: token) }) else { return }
    try await store.acknowledgeCourierEntry(entry, forToken: token)
  }
}
