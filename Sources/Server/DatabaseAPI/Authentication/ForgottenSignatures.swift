import CloudKitModel
import Configuration
import Synchronization

/// Which signatures of changes the store may have forgotten that are within the window again, since the clock was set back.
///
/// The store forgets a signature when the date of its request is out of every window. A clock that is set back brings such
/// dates in again: they are refused, up to the moment when it was set. Who signs a request when it is sent has a later date.
package final class ForgottenSignatures: Sendable {
  private struct State {
    var latest = Timestamp(milliseconds: .min)
    var end = Timestamp(milliseconds: .min)
  }

  private let state = Mutex(State())

  package init() {}

  /// The last date of which signatures may be forgotten.
  ///
  /// - Parameter now: what the clock shows; each reading counts.
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
