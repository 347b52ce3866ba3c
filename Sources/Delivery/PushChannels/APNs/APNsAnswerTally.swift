import Synchronization

/// The counter of the answers that APNs gives to the pushes of one route (``PushRoute``), for
/// metrics. A lock protects the counts, so any thread may use the counter.
package final class APNsAnswerTally: Sendable {
  /// An answer, without its details.
  package struct Answer: Hashable {
    /// The HTTP status.
    package var status: Int
    /// The `reason` of the answer's body, such as `BadDeviceToken`. Empty if the answer has none,
    /// as when APNs accepted the push. `other` if the answer was new after the tally had 100
    /// different ones.
    package var reason: String
  }

  /// The number of different answers from which the tally counts a new one under the reason
  /// `other`. Apple documents about thirty answers.
  private static let limit = 100

  /// The number of times that APNs gave each answer.
  private let tally = Mutex<[Answer: Int]>([:])

  /// Creates a tally without answers.
  package init() {}

  /// The number of times that APNs gave each answer since the tally was created.
  package var counts: [Answer: Int] { tally.withLock { $0 } }

  /// Counts the answer of a result. A result without an answer is not counted.
  package func note(_ result: APNsResult) {
    guard case .answered(let status, let reason, _, _, _) = result else { return }
    tally.withLock { tally in
      var answer = Answer(status: status, reason: reason ?? "")
      if tally[answer] == nil, tally.count >= Self.limit { answer.reason = "other" }
      tally[answer, default: 0] += 1
    }
  }
}
