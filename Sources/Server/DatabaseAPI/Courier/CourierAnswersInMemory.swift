import StoreModel
import Synchronization

/// The notification that each web courier reader got last, in the memory of a server that uses its
/// store alone.
///
/// A reader is a page or a program that polls the web courier. Its next poll acknowledges its last
/// notification: the server then moves the reader's cursor in the store past the notification. A
/// restart loses the memory, so a reader may then get its last notification again.
final class CourierAnswersInMemory: CourierAnswers {
  /// The most answers in memory. At the limit all answers are removed, so their readers may get a
  /// notification again.
  private static let capacity = 100_000

  /// The store of the cursors. A cursor is the position of a reader in the notification log.
  private let store: any CourierStore
  /// The entry of the notification log that each reader got last, by the reader's token.
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
    try await store.acknowledgeCourierEntries([entry], forToken: token)
  }
}
