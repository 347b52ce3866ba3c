import CloudKitModel
import Foundation
import PushChannels
import Synchronization

/// The differences between this machine's clock and the clocks of other machines. They come from
/// the header field `Date` of HTTP answers.
final class ClockSamples: Sendable {
  /// The comparison with one other machine.
  struct Sample: Sendable, Hashable {
    var source: String
    /// Seconds that this machine is ahead; negative if it is behind.
    var lead: Double
  }

  private let samples = Mutex<[Sample]>([])
  var all: [Sample] { samples.withLock { $0 } }

  /// Adds a sample; does nothing if the date is missing or unreadable.
  ///
  /// - Parameter date: The header field `Date` of an answer that has just arrived.
  func note(_ date: String?, from source: String, at now: Timestamp = .now) {
    guard let date, let theirs = HTTPDate.seconds(date) else { return }
    // The header field has whole seconds, rounded down, so on average it is half a second behind.
    samples.withLock { $0.append(Sample(source: source, lead: now.seconds - theirs - 0.5)) }
  }
}
