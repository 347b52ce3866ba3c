import StoreModel
import Synchronization

/// The outages of a PostgreSQL server, as the connections of a store know them together.
///
/// An attempt to connect takes seconds if nothing answers, and requests wait for the same few
/// threads. So while the server cannot be reached, one connection at a time tries to connect, and
/// the others fail at once. The first success ends the outage for all.
package final class PostgreSQLOutage: Sendable {
  /// The state that the connections share.
  private struct State {
    /// The error of the last attempt, with its end; nil if it succeeded.
    var failure: (error: StoreError, end: ContinuousClock.Instant)?
    var isTrying = false
  }

  /// The least time between the end of an attempt that failed and the next one.
  private static let pause = Duration.milliseconds(250)

  private let state = Mutex(State())

  /// Creates the state of a server that can be reached as far as known.
  package init() {}

  /// Runs an attempt to connect.
  ///
  /// - Throws: the error of the attempt. During an outage also the error of the last attempt, if it
  ///   has just ended or another thread tries again.
  func attempt(
    at now: ContinuousClock.Instant = .now, _ connect: () throws(StoreError) -> Void
  ) throws(StoreError) {
    try state.withLock { state throws(StoreError) in
      if let (error, end) = state.failure {
        guard !state.isTrying, now - end >= Self.pause else { throw error }
        state.isTrying = true
      }
    }
    do {
      try connect()
      end()
    } catch {
      note(error)
      throw error
    }
  }

  /// Notes that the server can be reached, so that all connections may try.
  package func end() {
    state.withLock { ($0.failure, $0.isTrying) = (nil, false) }
  }

  /// Notes that the server could not be reached.
  func note(_ error: StoreError) {
    state.withLock { ($0.failure, $0.isTrying) = ((error, .now), false) }
  }
}
