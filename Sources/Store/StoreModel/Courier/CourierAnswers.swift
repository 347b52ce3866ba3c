/// The last answer of each web courier reader, kept until the reader's next poll acknowledges it.
public protocol CourierAnswers: Sendable {
  /// Replaces a reader's kept answer with the one about to be sent.
  ///
  /// - Parameter token: the reader's own token, whichever container the entry belongs to.
  func keepCourierAnswer(_ entry: LogEntry, forToken token: String) async throws
  /// Deletes the kept answer, because the reader disconnected before it was sent.
  func withdrawCourierAnswer(_ entry: LogEntry, forToken token: String) async throws
  /// Moves the reader's cursors past the kept answer and counts the badge. Concurrent polls
  /// acknowledge an answer only once.
  func acknowledgeCourierAnswer(ofToken token: String) async throws
}
