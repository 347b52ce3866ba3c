import CloudKitModel
import Foundation
import PushChannels
import Synchronization

/// What answers of others said of the time, in their header field `Date`.
final class ClockSamples: Sendable {
  struct Sample: Sendable, Hashable {
    var source: String
    /// Seconds that this machine is ahead.
    var lead: Double
  }

  private let samples = Mutex<[Sample]>([])

  var all: [Sample] { samples.withLock { $0 } }

  /// - Parameter date: the field of an answer that came just now.
  func note(_ date: String?, from source: String, at now: Timestamp = .now) {
    guard let date, let theirs = HTTPDate.seconds(date) else { return }
    // The field has whole seconds, rounded down.
    samples.withLock { $0.append(Sample(source: source, lead: now.seconds - theirs - 0.5)) }
  }
}
