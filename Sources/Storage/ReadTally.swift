import Synchronization

/// Reads that were given up because nobody waited for them any more.
final class ReadTally: Sendable {
  private let waiting = Atomic(0)
  private let running = Atomic(0)

  /// Those that had not begun, and those that had.
  var abandoned: (waiting: Int, running: Int) {
    (waiting.load(ordering: .relaxed), running.load(ordering: .relaxed))
  }

  func countWaiting() { waiting.add(1, ordering: .relaxed) }
  func countRunning() { running.add(1, ordering: .relaxed) }
}
