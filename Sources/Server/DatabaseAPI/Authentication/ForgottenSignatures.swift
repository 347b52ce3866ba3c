import CloudKitModel
import Configuration
import Synchronization

/// The memory of clock changes that make used signatures look fresh again.
///
/// The store forgets a signature when the date of its request is outside of every window. If the
/// clock is set back, such a date is inside the window again, and the signature could be used
/// twice. Therefore the server refuses the dates that were out of every window at the last reading
/// before the change: those that were at least one hour old
/// (`ServerConfiguration.maximumSignatureWindow`). The server never refuses a date later than its
/// new time for this reason. A client that signs a request when it sends it has such a date.
package final class ForgottenSignatures: Sendable {
  /// The state behind the lock.
  private struct State {
    /// The last reading of the clock.
    var latest = Timestamp(milliseconds: .min)
    /// The end of the dates that are refused.
    var end = Timestamp(milliseconds: .min)
  }

  private let state = Mutex(State())

  /// Creates the memory, which knows of no clock change yet. One object serves a server for its
  /// whole life.
  package init() {}

  /// Returns the last date of which the store may have forgotten signatures. A request with this
  /// date or an earlier one must be refused.
  ///
  /// - Parameter now: the reading of the clock. Each call compares it with the reading before.
  func end(at now: Timestamp) -> Timestamp {
    state.withLock { state in
      if now < state.latest {
        let expired = state.latest.advanced(
          bySeconds: -ServerConfiguration.maximumSignatureWindow)
        state.end = max(min(state.end, now), min(expired, now))
      }
      state.latest = now
      return state.end
    }
  }
}
