/// The notification log as readers of the web courier get it, one entry at a time.
///
/// The web courier needs no other protocol of the store except devices (``DeviceReading``), to find
/// the owner of a reader's token.
public protocol CourierStore: Sendable {
  /// Returns the oldest notification that the reader with this token has not acknowledged; nil if
  /// there is none. Notifications of changes that the reader's own device made are skipped.
  ///
  /// - Parameter position: the reader's own position. Entries up to it are skipped, acknowledged or
  ///   not; later entries are returned again. Positions beyond the end of the log are ignored.
  func nextCourierEntry(
    forToken token: String, after position: CourierPosition
  ) async throws -> CourierEntry?
  /// Moves the reader's cursor past this entry, so that no poll returns the entry again.
  func acknowledgeCourierEntry(_ entry: LogEntry, forToken token: String) async throws
  /// The last answers of readers, for a cluster in which a reader's polls may reach different
  /// servers. Nil if one server uses the store alone, which keeps them in its own memory.
  var courierAnswers: (any CourierAnswers)? { get }
}

extension CourierStore {
  /// Returns the oldest notification that the reader with this token has not acknowledged, by the
  /// store's cursor alone.
  public func nextCourierEntry(forToken token: String) async throws -> CourierEntry? {
    try await nextCourierEntry(forToken: token, after: CourierPosition())
  }
}
