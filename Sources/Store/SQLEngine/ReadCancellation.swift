import Dispatch
import Foundation
import Synchronization

/// The cancellation of one read whose caller no longer needs the result, while the read waits or
/// runs.
///
/// The reading thread checks before each statement, and in SQLite before each row, whether the read
/// is cancelled. Another thread ends a running statement by a signal to the engine. PostgreSQL gets
/// the signal over another connection, and the signal names only the session, not the statement.
/// The read waits until the server has signalled the session, so no statement of a later read is
/// ended. A read whose connection was lost does not wait. Both engines ignore a signal if no
/// statement runs. The signal is repeated until the read has ended.
///
/// Unchecked: ``condition`` guards what changes, except for the atomic `cancelled`.
package final class ReadCancellation: @unchecked Sendable {
  /// The phase of the read.
  private enum Phase {
    case waiting
    /// The closure ends the running statement; any thread may call it.
    case running(@Sendable () -> Void)
    case over
  }

  /// The seconds between two signals.
  private static let repetition = 0.1
  /// The queue that sends the signals, because a signal to a server blocks its thread. There are at
  /// most as many signals at a time as reading threads.
  private static let messages = DispatchQueue(
    label: "petrel.store.cancellations", attributes: .concurrent)

  package init() {}

  private let condition = NSCondition()
  private var phase = Phase.waiting
  private var isSignalling = false
  /// Written under the lock of ``condition``.
  private let cancelled = Atomic(false)

  /// Any thread may read the value.
  package var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

  /// Cancels the read, from any thread.
  package func cancel() {
    let isRunning = condition.withLock {
      cancelled.store(true, ordering: .relaxed)
      if case .running = phase { return true }
      return false
    }
    if isRunning { Self.messages.async { self.interruptRead() } }
  }

  private func interruptRead() {
    let running: (@Sendable () -> Void)? = condition.withLock {
      guard case .running(let interrupt) = phase else { return nil }
      isSignalling = true
      return interrupt
    }
    guard let running else { return }
    running()
    condition.withLock {
      isSignalling = false
      condition.broadcast()
    }
    Self.messages.asyncAfter(deadline: .now() + Self.repetition) { self.interruptRead() }
  }

  // MARK: On the thread that reads

  /// - Throws: `CancellationError` if the read was cancelled while it waited.
  package func begin(on connection: any SQLConnection) throws {
    let interrupt = connection.interruption()
    try condition.withLock {
      if isCancelled { throw CancellationError() }
      phase = .running(interrupt)
    }
    connection.read = self
  }

  /// Connections call it before each statement.
  package func check() throws {
    if isCancelled { throw CancellationError() }
  }

  /// Returns whether the read was cancelled.
  @discardableResult
  package func end(on connection: any SQLConnection) -> Bool {
    let isCancelled = condition.withLock {
      while isSignalling, !connection.isLost { condition.wait() }
      phase = .over
      return self.isCancelled
    }
    guard connection.read === self else { return isCancelled }
    connection.read = nil
    if isCancelled { connection.noteInterruption() }
    return isCancelled
  }
}
