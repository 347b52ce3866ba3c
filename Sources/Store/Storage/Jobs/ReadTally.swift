import StoreModel
import Synchronization

/// Metrics of reads. All values are atomic, so that readers do not wait for each other.
final class ReadTally: Sendable {
  private let isUnreachable = Atomic(false)
  private let waiting = Atomic(0)
  private let running = Atomic(0)

  /// Reads that had not begun, and those that were interrupted.
  var abandoned: (waiting: Int, running: Int) {
    (waiting.load(ordering: .relaxed), running.load(ordering: .relaxed))
  }

  var foundNoStore: Bool { isUnreachable.load(ordering: .relaxed) }

  /// Every read calls this method, so it writes only if the value changes.
  func note(_ failure: (any Error)?) {
    let isLost = (failure as? StoreError)?.code == .unreachable
    if isUnreachable.load(ordering: .relaxed) != isLost {
      isUnreachable.store(isLost, ordering: .relaxed)
    }
  }

  func countWaiting() { waiting.add(1, ordering: .relaxed) }
  func countRunning() { running.add(1, ordering: .relaxed) }
}
