import StoreModel
import Synchronization

/// The counts of cancelled reads, and whether the last read reached the store, for metrics. All
/// values are atomic, so that readers do not wait for each other.
final class ReadTally: Sendable {
  /// Whether the last read failed to reach the store.
  private let isUnreachable = Atomic(false)
  /// The number of reads that were cancelled before they began.
  private let waiting = Atomic(0)
  /// The number of reads that were cancelled while they ran.
  private let running = Atomic(0)

  /// The numbers of cancelled reads since the store was opened. `waiting` counts those that had not
  /// begun, `running` those that were interrupted.
  var abandoned: (waiting: Int, running: Int) {
    (waiting.load(ordering: .relaxed), running.load(ordering: .relaxed))
  }

  /// Whether the last read failed to reach the store. Only PostgreSQL can be out of reach: its
  /// error is ``StoreError/Code/unreachable``.
  var foundNoStore: Bool { isUnreachable.load(ordering: .relaxed) }

  /// Records whether a read reached the store. Every read calls this method, so it writes only if
  /// the value changes.
  ///
  /// - Parameter failure: the error of the read; nil if it succeeded.
  func note(_ failure: (any Error)?) {
    let isLost = (failure as? StoreError)?.code == .unreachable
    if isUnreachable.load(ordering: .relaxed) != isLost {
      isUnreachable.store(isLost, ordering: .relaxed)
    }
  }

  /// Counts a read that was cancelled before it began.
  func countWaiting() { waiting.add(1, ordering: .relaxed) }
  /// Counts a read that was cancelled while it ran.
  func countRunning() { running.add(1, ordering: .relaxed) }
}
