import Synchronization

/// Counts what APNs answers to the pushes of a route.
package final class APNsAnswerTally: Sendable {
  package struct Answer: Hashable {
    package var status: Int
    /// Empty when the answer has none, as when the push was accepted.
    package var reason: String
  }

  /// Different answers that are counted apart: APNs documents some thirty.
  private static let limit = 100

  private let tally = Mutex<[Answer: Int]>([:])

  package init() {}

  package var counts: [Answer: Int] { tally.withLock { $0 } }

  package func note(_ result: APNsResult) {
    guard case .answered(let status, let reason, _, _, _) = result else { return }
    tally.withLock { tally in
      var answer = Answer(status: status, reason: reason ?? "")
      if tally[answer] == nil, tally.count >= Self.limit { answer.reason = "other" }
      tally[answer, default: 0] += 1
    }
  }
}
