/// The notification log for readers of the web courier: clients that poll the server, or hold an
/// event stream.
///
/// The web courier needs no other protocol of the store except devices (``DeviceReading``), to find
/// the owner of a reader's token.
public protocol CourierStore: Sendable {
  /// The entries that readers got last.
  var recentEntries: CourierEntryCache { get }
  /// Returns the oldest notifications that the reader with this token has not acknowledged, in the
  /// order in which the reader gets them. Notifications of changes by the reader's own device are
  /// left out. So are notifications from before the registration of the token.
  ///
  /// - Parameters:
  ///   - position: the position that the reader has sent. In each database of the position, the
  ///     result comes from the entries after it, acknowledged or not. In other databases, the
  ///     store's cursor counts. A sequence beyond the end of a database's log is ignored.
  ///   - limit: the most notifications to return, 1 or more.
  /// - Throws: ``StoreError/Code/notFound`` if there is no such token.
  func courierEntries(
    forToken token: String, after position: CourierPosition, limit: Int
  ) async throws -> [CourierEntry]
  /// Moves the reader's cursors to these entries, and raises the badge for each entry whose
  /// subscription asks for one. Polls without a position then get only later entries. An entry that
  /// the reader has acknowledged before counts no more.
  ///
  /// - Throws: ``StoreError/Code/notFound`` if there is no such token.
  func acknowledgeCourierEntries(_ entries: [LogEntry], forToken token: String) async throws
  /// Stores the answer that is about to be sent to a reader whose polls name no event. The next such
  /// poll acknowledges the answer. It may reach another server, or the same one after a restart.
  ///
  /// - Parameters:
  ///   - entry: the notification in the answer.
  ///   - token: the reader's own token. A reader may listen in several containers; this is the
  ///     token of its first registration.
  func keepCourierAnswer(_ entry: LogEntry, forToken token: String) async throws
  /// Deletes the stored answer with this notification, because the answer was not sent.
  func withdrawCourierAnswer(_ entry: LogEntry, forToken token: String) async throws
  /// Acknowledges the reader's stored answers: moves the reader's cursors to their notifications,
  /// and raises the badge for each one that asks for a badge. A cursor is the last notification in
  /// a database that the reader has acknowledged. If several polls arrive at the same time, an
  /// answer counts once.
  func acknowledgeCourierAnswer(ofToken token: String) async throws
}

extension CourierStore {
  /// Returns the oldest notification that the reader with this token has not acknowledged; nil if
  /// there is none. Only the store's cursors count.
  public func nextCourierEntry(forToken token: String) async throws -> CourierEntry? {
    try await courierEntries(forToken: token, after: CourierPosition(), limit: 1).first
  }
}
