/// What readers of the web courier were given last, until their next poll acknowledges it.
public protocol CourierAnswers: Sendable {
  /// Keeps what a reader is about to be given, in the place of what it was given before.
  ///
  /// - Parameter token: the reader's own, whatever container the entry is of.
  func keepCourierAnswer(_ entry: LogEntry, forToken token: String) async throws
  /// Forgets what was kept, for the reader has left without it.
  func withdrawCourierAnswer(_ entry: LogEntry, forToken token: String) async throws
  /// Moves the reader's cursors past what it was given, and counts the badge. Once for each answer,
  /// however many polls come at a time.
  func acknowledgeCourierAnswer(ofToken token: String) async throws
}
