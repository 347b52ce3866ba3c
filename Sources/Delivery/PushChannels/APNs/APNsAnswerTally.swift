import Synchronization

/// The counter of the answers that APNs gives to the pushes of one route (``PushRoute``), for
/// metrics. A lock protects the counts, so any thread may use the counter.
package final class APNsAnswerTally: Sendable {
  /// An answer, without its details.
  package struct Answer: Hashable {
    package var status: Int
    /// The `reason` of the answer's body, such as `BadDeviceToken`. Empty if the answer has none,
    /// as when APNs accepted the push. `other` if the answer was new after the tally had 100
    /// different ones.
    package var reason: String
  }

  /// The number of different answers from which the tally counts a new one under the reason
  /// `other`. Apple documents about thirty answers.
  private static let limit = 100

  private let tally = Mutex<[Answer: Int]>([:])

  package init() {}

  /// The number of times that APNs gave each answer since the tally was created.
  package var counts: [Answer: Int] { tally.withLock { $0 } }

  /// Counts what APNs answered. A push without an answer is not counted.
  package func count(_ answer: PushAnswer) {
    guard let status = answer.status else { return }
    tally.withLock { tally in
      var answer = Answer(status: status, reason: answer.code ?? "")
      if tally[answer] == nil, tally.count >= Self.limit { answer.reason = "other" }
      tally[answer, default: 0] += 1
    }
  }
}
