/// The time after which a refusal of the page of a share leaves the server.
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
