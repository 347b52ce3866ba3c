import StoreModel
import Synchronization

/// The ring buffer of the latest withheld notifications: their subscribers may not read the record.
/// A lock protects the buffer.
final class WithheldJournal: Sendable {
  /// The state under the lock.
  private struct State {
    /// The notifications. In a full journal, the oldest one is at the index ``oldest``.
    var latest: [WithheldNotification] = []
    /// The index of the oldest notification of a full journal; 0 in a journal that is not full.
    var oldest = 0
  }

  private let capacity: Int
  private let state = Mutex(State())

  init(capacity: Int) {
    self.capacity = capacity
  }

  /// The notifications, the oldest first.
  var all: [WithheldNotification] {
    state.withLock { Array($0.latest[$0.oldest...] + $0.latest[..<$0.oldest]) }
  }

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
