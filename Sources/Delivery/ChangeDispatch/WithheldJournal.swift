import StoreModel
import Synchronization

/// The ring buffer of the latest withheld notifications. A lock protects it.
final class WithheldJournal: Sendable {
  /// The state under the lock.
  private struct State {
    /// The notifications. In a full journal, the oldest is at ``oldest``.
    var latest: [WithheldNotification] = []
    /// The position of the oldest notification, once the journal is full.
    var oldest = 0
  }

  /// The greatest number of notifications.
  private let capacity: Int
  /// The state.
  private let state = Mutex(State())

  /// Creates an empty journal.
  init(capacity: Int) {
    self.capacity = capacity
  }

  /// The notifications in the order in which they were withheld.
  var all: [WithheldNotification] {
    state.withLock { Array($0.latest[$0.oldest...] + $0.latest[..<$0.oldest]) }
  }

  /// Adds notifications. A full journal drops the oldest ones.
  func add(_ withheld: [WithheldNotification]) {
    guard !withheld.isEmpty else { return }
    state.withLock { state in
      for one in withheld {
        if state.latest.count < capacity {
          state.latest.append(one)
        } else {
          state.latest[state.oldest] = one
          state.oldest = (state.oldest + 1) % capacity
        }
      }
    }
  }
}
