import Dispatch
import Synchronization

/// The cancellation of one read whose caller no longer needs the result, while the read waits or
/// runs.
///
/// The reading thread checks before each statement, and in SQLite before each row, whether the read
/// is cancelled. Another thread ends a running statement by a signal to the engine. PostgreSQL gets
/// the signal over another connection, and the signal names only the session, not the statement. So
/// the signalling thread holds the lock of ``phase`` until the server has signalled the session.
/// The read cannot end meanwhile, so no statement of a later read is ended. Both engines ignore a
/// signal if no statement runs. The signal is repeated until the read has ended.
package final class ReadCancellation: Sendable {
  /// The phase of the read.
  private enum Phase {
    /// The read waits for a reading thread.
    case waiting
    /// The read runs. The closure ends the statement that runs on the connection; any thread may
    /// call the closure.
    case running(@Sendable () -> Void)
    /// The read has ended, so nothing is left to cancel.
    case over
  }

  /// The seconds between two signals.
  private static let repetition = 0.1
  /// The queue that sends the signals, because a signal to a server blocks its thread. There are at
  /// most as many signals at a time as reading threads.
  private static let messages = DispatchQueue(
    label: "petrel.store.cancellations", attributes: .concurrent)

  /// Creates the cancellation of a read that has not begun.
  package init() {}

  private let phase = Mutex(Phase.waiting)
  /// Whether the read was cancelled. It is written under the lock of ``phase``.
  private let cancelled = Atomic(false)

  /// Whether ``cancel()`` was called. Any thread may read the value.
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

  /// Signals the engine to end the running statement, and repeats the signal every ``repetition``
  /// seconds until the read has ended.
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

  /// Ends the read. Afterwards ``cancel()`` ends no statement on the connection.
  ///
  /// - Returns: whether the read was cancelled.
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
