import StoreModel
import Synchronization

/// The outages of a PostgreSQL server, as the connections of a store know them together.
///
/// An attempt to connect takes seconds if nothing answers, and requests wait for the same few
/// threads. So while the server cannot be reached, one connection at a time tries to connect, and
/// the others fail at once. The first success ends the outage for all.
///
/// The session of a lost connection may still run on the server, and may commit later. So each
/// connection ends all such sessions before it goes on: no statement that runs after the loss reads
/// a state that the lost session then changes.
package final class PostgreSQLOutage: Sendable {
  /// Guarded by the lock.
  private struct State {
    var failure: (error: StoreError, end: ContinuousClock.Instant)?
    var isTrying = false
    /// The sessions of lost connections, until they have certainly ended.
    var lostSessions: [PostgreSQLSession] = []
  }

  /// The least time between the end of an attempt that failed and the next one.
  private static let pause = Duration.milliseconds(250)

  private let state = Mutex(State())
  /// Whether there are lost sessions. It spares the lock before every transaction.
  private let hasLostSessions = Atomic(false)

  package init() {}

  /// During an outage, throws the last attempt's error if it has just ended or another thread
  /// tries.
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

  package func end() {
    state.withLock { ($0.failure, $0.isTrying) = (nil, false) }
  }

  func note(_ error: StoreError) {
    state.withLock { ($0.failure, $0.isTrying) = ((error, .now), false) }
  }

  // MARK: Lost sessions

  func note(lost session: PostgreSQLSession) {
    state.withLock { state in
      state.lostSessions.append(session)
      hasLostSessions.store(true, ordering: .releasing)
    }
  }

  /// Needs a connection outside of a transaction.
  ///
  /// - Throws: ``StoreError/Code/unreachable`` if a session has not ended after two seconds.
  func endLostSessions(from connection: PostgreSQLConnection) throws {
    guard hasLostSessions.load(ordering: .acquiring) else { return }
    for session in state.withLock({ $0.lostSessions }) {
      try session.end(from: connection)
      state.withLock { state in
        state.lostSessions.removeAll { $0 == session }
        hasLostSessions.store(!state.lostSessions.isEmpty, ordering: .releasing)
      }
    }
  }
}
