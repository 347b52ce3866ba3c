import Dispatch
import Synchronization

/// The way to give up a read whose caller has gone, as long as it waits or runs.
///
/// A connection looks before each statement, and a file's before each row, whether the read is given up.
/// A statement that runs is ended from outside. PostgreSQL is told of it beside the connection, and only
/// whose statement is meant, not which one. So nothing is sent and nothing begun on the connection while
/// it is being told: the lock is held until the server has signalled the session. A signal that finds no
/// statement is ignored by either engine, and repeated as long as the read goes on.
package final class ReadCancellation: Sendable {
  private enum Phase {
    case waiting
    /// On a connection whose statements this ends, from any thread.
    case running(@Sendable () -> Void)
    case over
  }

  /// Seconds until the server is told again.
  private static let repetition = 0.1
  /// Telling the server blocks. There are no more at a time than threads that read.
  private static let messages = DispatchQueue(
    label: "petrel.store.cancellations", attributes: .concurrent)

  package init() {}

  private let phase = Mutex(Phase.waiting)
  /// Written under the lock of ``phase``.
  private let cancelled = Atomic(false)

  package var isCancelled: Bool { cancelled.load(ordering: .relaxed) }

  /// Gives the read up, from any thread.
  package func cancel() {
    let isRunning = phase.withLock { phase in
      cancelled.store(true, ordering: .relaxed)
      if case .running = phase { return true }
      return false
    }
    if isRunning { Self.messages.async { self.tell() } }
  }

  private func tell() {
    let isTold = phase.withLock { phase in
      guard case .running(let interrupt) = phase else { return false }
      interrupt()
      return true
    }
    guard isTold else { return }
    Self.messages.asyncAfter(deadline: .now() + Self.repetition) { self.tell() }
  }

  // MARK: On the thread that reads

  /// Begins the read in a transaction.
  ///
  /// - Throws: `CancellationError`.
  package func begin(on connection: any SQLConnection) throws {
    let interrupt = connection.interruption()
    try phase.withLock { phase in
      if isCancelled { throw CancellationError() }
      phase = .running(interrupt)
    }
    connection.read = self
  }

  /// - Throws: `CancellationError`.
  package func check() throws {
    if isCancelled { throw CancellationError() }
  }

  /// Ends the read: from now on nothing on the connection is cancelled for it.
  ///
  /// - Returns: whether it was given up.
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
