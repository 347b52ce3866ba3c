/// The notification log as the readers of the web courier get it, one entry at a time.
public protocol CourierStore: Sendable {
  /// The oldest notification that the reader with this token has not acknowledged, not counting
  /// those for changes that its own device made; nil when there is none.
  ///
  /// - Parameter position: where the reader is by its own account. What lies behind it is passed
  ///   over, acknowledged or not, and what lies before it is given again. Places that the log has
  ///   not come to yet do not count.
  func nextCourierEntry(
    forToken token: String, after position: CourierPosition
  ) async throws -> CourierEntry?
  /// Moves the reader's cursor past this entry.
  func acknowledgeCourierEntry(_ entry: LogEntry, forToken token: String) async throws
  /// What readers were given last, where their polls may go to several servers; nil where one server
  /// has the store alone, and may keep that by itself.
  var courierAnswers: (any CourierAnswers)? { get }
}

extension CourierStore {
  /// The oldest notification that the reader with this token has not acknowledged.
  public func nextCourierEntry(forToken token: String) async throws -> CourierEntry? {
    try await nextCourierEntry(forToken: token, after: CourierPosition())
  }
}
