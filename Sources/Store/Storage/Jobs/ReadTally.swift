import StoreModel
import Synchronization

/// Counts of cancelled reads, and whether the last read reached the store.
final class ReadTally: Sendable {
  private let isUnreachable = Atomic(false)
  private let waiting = Atomic(0)
  private let running = Atomic(0)

  /// The reads cancelled before they began, and while they ran.
  var abandoned: (waiting: Int, running: Int) {
    (waiting.load(ordering: .relaxed), running.load(ordering: .relaxed))
  }

  /// Whether the last read failed to reach the store.
  var foundNoStore: Bool { isUnreachable.load(ordering: .relaxed) }

  /// - Parameter failure: the error of a read; nil if it succeeded.
  func note(_ failure: (any Error)?) {
    let isLost = (failure as? StoreError)?.code == .unreachable
    if isUnreachable.load(ordering: .relaxed) != isLost {
      isUnreachable.store(isLost, ordering: .relaxed)
    }
  }

  func countWaiting() { waiting.add(1, ordering: .relaxed) }
  func countRunning() { running.add(1, ordering: .relaxed) }
}
