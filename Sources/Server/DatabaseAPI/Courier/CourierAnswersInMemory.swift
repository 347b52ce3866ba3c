import StoreModel
import Synchronization

/// What readers were given last, by a server that has the store alone. After a restart the last answer
/// may come again.
final class CourierAnswersInMemory: CourierAnswers {
  /// Answers that are remembered until the next poll.
  private static let capacity = 100_000

  private let store: any CourierStore
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
