import StoreModel
import Synchronization

/// The latest withheld notifications, at most `capacity`.
final class WithheldJournal: Sendable {
  private struct State {
    var latest: [WithheldNotification] = []
    /// The position of the oldest, once the journal is full.
    var oldest = 0
  }

  private let capacity: Int
  private let state = Mutex(State())

  init(capacity: Int) {
    self.capacity = capacity
  }

  /// In the order in which they were withheld.
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
