import CloudKitModel
import Foundation
import PushChannels
import Synchronization

/// The times of other machines, from the header field `Date` of their answers.
final class ClockSamples: Sendable {
  /// The comparison with one other machine.
  struct Sample: Sendable, Hashable {
    /// The name of the other machine, for messages.
    var source: String
    /// Seconds that this machine is ahead; negative if it is behind.
    var lead: Double
  }

  private let samples = Mutex<[Sample]>([])

  /// All samples so far.
  var all: [Sample] { samples.withLock { $0 } }

  /// Adds a sample; does nothing if the date is missing or unreadable.
  ///
  /// - Parameters:
  ///   - date: The header field `Date` of an answer that has just arrived.
  ///   - source: The name of the other machine.
  ///   - now: The time of this machine.
  func note(_ date: String?, from source: String, at now: Timestamp = .now) {
    guard let date, let theirs = HTTPDate.seconds(date) else { return }
    // The field has whole seconds, rounded down, so half a second is the expected error.
    samples.withLock { $0.append(Sample(source: source, lead: now.seconds - theirs - 0.5)) }
  }
}
