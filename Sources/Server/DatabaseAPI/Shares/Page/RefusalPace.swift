import Synchronization

/// The time after which a refusal of a share leaves the server.
///
/// The search for a link that leads nowhere ends earlier than the search for a share that the user
/// may not see. A refusal therefore waits until a whole number of steps has passed.
enum RefusalPace {
  /// The length of a step. The searches take a small part of it.
  static let step = Duration.milliseconds(100)

  /// Returns the pause before a refusal whose search took the time `elapsed`.
  static func pause(after elapsed: Duration) -> Duration {
    step * (Int(elapsed / step) + 1) - elapsed
  }
}

/// The pace of one answer of the protocol. The client API waits after the turn of the request, so a
/// waiting answer holds up no other request.
final class AnswerPace: Sendable {
  private let began = ContinuousClock.now
  private let hidesSearch = Atomic(false)

  /// Whether the answer must wait (``hideSearch()``).
  var isNeeded: Bool { hidesSearch.load(ordering: .relaxed) }

  /// Notes that the time of the answer must not show how the search for a share went.
  func hideSearch() { hidesSearch.store(true, ordering: .relaxed) }

  /// Waits as ``RefusalPace`` says, if the answer must.
  func wait() async throws {
    guard isNeeded else { return }
    try await Task.sleep(for: RefusalPace.pause(after: .now - began))
  }
}
