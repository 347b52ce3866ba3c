import StoreModel
import Synchronization

/// What became of reads: those that were given up because nobody waited for them any more, and whether the
/// store could be read the last time.
final class ReadTally: Sendable {
  private let isUnreachable = Atomic(false)
  private let waiting = Atomic(0)
  private let running = Atomic(0)

  /// Those that had not begun, and those that had.
  var abandoned: (waiting: Int, running: Int) {
    (waiting.load(ordering: .relaxed), running.load(ordering: .relaxed))
  }

  /// Whether the last read found no store to read.
  var foundNoStore: Bool { isUnreachable.load(ordering: .relaxed) }

  /// - Parameter failure: why a read failed; nil when it did not.
  func note(_ failure: (any Error)?) {
    let isLost = (failure as? StoreError)?.code == .unreachable
    if isUnreachable.load(ordering: .relaxed) != isLost {
      isUnreachable.store(isLost, ordering: .relaxed)
    }
  }

  func countWaiting() { waiting.add(1, ordering: .relaxed) }
  func countRunning() { running.add(1, ordering: .relaxed) }
}
