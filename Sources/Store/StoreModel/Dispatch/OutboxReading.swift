/// Reads of the committed changes that wait to be dispatched.
public protocol OutboxReading: Sendable {
  /// Returns the databases whose outbox has changes that wait to be dispatched.
  func undispatchedDatabases() async throws -> [DatabaseID]
  /// Returns the oldest changes of a database after `sequence` that wait to be dispatched to a
  /// part, in order. The first may be settled for some subscriptions:
  /// ``OutboxEntry/settledThrough``.
  func undispatchedChanges(
    in part: DatabasePart, after sequence: Int64, limit: Int
  ) async throws -> [OutboxEntry]
}

extension OutboxReading {
  /// Returns the oldest changes of a database after `sequence` that are not dispatched to all its
  /// parts, in order.
  public func undispatchedChanges(
    in database: DatabaseID, after sequence: Int64, limit: Int
  ) async throws -> [OutboxEntry] {
    try await undispatchedChanges(in: .whole(database), after: sequence, limit: limit)
  }
}
