import Dispatch
import Synchronization

/// The cancellation of one read whose caller has gone, while the read waits or runs.
///
/// The reading thread checks before each statement, and in SQLite before each row, whether the read
/// is cancelled. A running statement is ended from outside. PostgreSQL gets a cancellation over
/// another connection, and it names only the session, not the statement. So `cancel()` holds the
/// lock until the server has signalled the session, and no other statement starts on the connection
/// meanwhile. Both engines ignore a signal that finds no statement. The signal is repeated while
/// the read goes on.
package final class ReadCancellation: Sendable {
  /// The phase of the read.
  private enum Phase {
    /// The read waits for a reading thread.
    case waiting
    /// The closure ends the statement that runs on the connection, from any thread.
    case running(@Sendable () -> Void)
    /// The read has ended, so nothing is left to cancel.
    case over
  }

  /// Seconds between two signals.
  private static let repetition = 0.1
  /// Signalling the server blocks. There are at most as many signals at a time as reading threads.
  private static let messages = DispatchQueue(
    label: "petrel.store.cancellations", attributes: .concurrent)

  /// The cancellation of a read that has not begun.
  package init() {}

  private let phase = Mutex(Phase.waiting)
  /// Written under the lock of ``phase``.
  private let cancelled = Atomic(false)

  /// Whether ``cancel()`` was called. Any thread may ask.
  package var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

  /// Cancels the read, from any thread.
  package func cancel() {
    let isRunning = phase.withLock { phase in
      cancelled.store(true, ordering: .relaxed)
      if case .running = phase { return true }
      return false
    }
    if isRunning { Self.messages.async { self.interruptRead() } }
  }

  /// Ends the running statement, and repeats that every ``repetition`` seconds until the read has
  /// ended.
  private func interruptRead() {
    let isRunning = phase.withLock { phase in
      guard case .running(let interrupt) = phase else { return false }
      interrupt()
      return true
    }
    guard isRunning else { return }
    Self.messages.asyncAfter(deadline: .now() + Self.repetition) { self.interruptRead() }
  }

  // MARK: On the thread that reads

  /// Begins the read in a transaction: from now on ``cancel()`` ends the connection's running
  /// statement.
  ///
  /// - Throws: `CancellationError` if the read was cancelled while it waited.
  package func begin(on connection: any SQLConnection) throws {
    let interrupt = connection.interruption()
    try phase.withLock { phase in
      if isCancelled { throw CancellationError() }
      phase = .running(interrupt)
    }
    connection.read = self
  }

  /// Throws if the read was cancelled. Connections call it before each statement.
  ///
  /// - Throws: `CancellationError`.
  package func check() throws {
    if isCancelled { throw CancellationError() }
  }

  /// Ends the read: nothing on the connection is cancelled for it any more.
  ///
  /// - Returns: whether it was cancelled.
  @discardableResult
  package func end(on connection: any SQLConnection) -> Bool {
    let isCancelled = phase.withLock { phase in
      phase = .over
      return self.isCancelled
    }
    guard connection.read === self else { return isCancelled }
    connection.read = nil
    if isCancelled { connection.noteInterruption() }
    return isCancelled
  }
}
