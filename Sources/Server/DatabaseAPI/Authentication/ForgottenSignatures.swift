import CloudKitModel
import Configuration
import Synchronization

/// The record of clock changes after which the store may not know all used signatures any more.
///
/// A signed request has a date. The server accepts the date only inside its window: the date and
/// the server's clock may differ by at most an hour, or less if the configuration says so. The
/// store deletes a used signature when its date is older than one hour
/// (`ServerConfiguration.maximumSignatureWindow`).
///
/// If the clock is then set back, the date is inside the window again, and the signature could be
/// used twice. Therefore the server refuses the dates that were at least one hour old at the last
/// reading of the clock before the change.
///
/// The server never refuses a date for this reason if the date is later than the clock after the
/// change. A client that signs its request immediately before sending has a later date.
package final class ForgottenSignatures: Sendable {
  /// The state behind the lock.
  private struct State {
    /// The last reading of the clock.
    var latest = Timestamp(milliseconds: .min)
    /// The latest date that is refused. All earlier dates are refused too.
    var end = Timestamp(milliseconds: .min)
  }

  private let state = Mutex(State())

  /// Creates the record without a clock change. A server has one record from its start to its end.
  package init() {}

  /// Compares the clock with its last reading, and returns the latest date that must be refused.
  /// Each earlier date must be refused too, because the store may have deleted signatures of these
  /// dates.
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
