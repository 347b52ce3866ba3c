/// The last answers to web courier readers: clients that poll the server for notifications. The
/// store keeps each answer until the reader's next poll acknowledges it.
public protocol CourierAnswers: Sendable {
  /// Stores the answer that is about to be sent to a reader.
  ///
  /// - Parameters:
  ///   - entry: the notification in the answer.
  ///   - token: the reader's own token. A reader may listen in several containers; this is the
  ///     token of its first registration.
  func keepCourierAnswer(_ entry: LogEntry, forToken token: String) async throws
  /// Deletes the stored answer with this notification, because the reader disconnected before the
  /// answer was sent.
  func withdrawCourierAnswer(_ entry: LogEntry, forToken token: String) async throws
  /// Acknowledges the reader's stored answers: moves the reader's cursors to their notifications,
  /// and raises the badge for each one that asks for a badge. A cursor is the last notification in
  /// a database that the reader has acknowledged. If several polls arrive at the same time, an
  /// answer counts once.
  func acknowledgeCourierAnswer(ofToken token: String) async throws
}
