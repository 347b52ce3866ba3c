import Dispatch
import Synchronization

/// The way to give up a read whose caller has gone, as long as it waits or runs.
///
/// PostgreSQL is told of it beside the connection, and only whose statement is meant, not which one. So
/// nothing is sent and nothing begun on the connection while it is being told: the lock is held until the
/// server has signalled the session. A signal that finds no statement is ignored there, and told again
/// as long as the read goes on.
final class ReadCancellation: Sendable {
  private enum Phase {
    case waiting
    /// On a connection whose statements can be cancelled, or on another.
    case running(PostgreSQLCancellation?)
    case over
  }

  private struct State {
    var phase = Phase.waiting
    var isCancelled = false
  }

  /// Seconds until the server is told again.
  private static let repetition = 0.1
  /// Telling the server blocks. There are no more at a time than threads that read.
  private static let messages = DispatchQueue(
    label: "petrel.store.cancellations", attributes: .concurrent)

  private let state = Mutex(State())

  var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// Gives the read up, from any thread.
  func cancel() {
    let isRunning = state.withLock { state in
      state.isCancelled = true
      if case .running(.some) = state.phase { return true }
      return false
    }
    if isRunning { Self.messages.async { self.tell() } }
  }

  private func tell() {
    let isTold = state.withLock { state in
      guard case .running(let session?) = state.phase else { return false }
      session.send()
      return true
    }
    guard isTold else { return }
    Self.messages.asyncAfter(deadline: .now() + Self.repetition) { self.tell() }
  }

  // MARK: On the thread that reads

  /// Begins the read in a transaction.
  ///
  /// - Throws: `CancellationError`.
  func begin(on connection: any SQLConnection) throws {
    let connection = connection as? PostgreSQLConnection
    let session = connection?.cancellation()
    try state.withLock { state in
      if state.isCancelled { throw CancellationError() }
      state.phase = .running(session)
    }
    connection?.read = self
  }

  /// - Throws: `CancellationError`.
  func check() throws {
    if isCancelled { throw CancellationError() }
  }

  /// Ends the read: from now on nothing on the connection is cancelled for it.
  ///
  /// - Returns: whether it was given up.
  @discardableResult
  func end(on connection: any SQLConnection) -> Bool {
    let isCancelled = state.withLock { state in
      state.phase = .over
      return state.isCancelled
    }
    guard let connection = connection as? PostgreSQLConnection, connection.read === self else {
      return isCancelled
    }
    connection.read = nil
    if isCancelled { connection.cancelled = .now }
    return isCancelled
  }
}
