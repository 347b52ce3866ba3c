/// The reads of committed changes that wait to be dispatched: matched against subscriptions.
public protocol OutboxReading: Sendable {
  /// Returns the databases whose outbox has changes that wait to be dispatched.
  func undispatchedDatabases() async throws -> [DatabaseID]
  /// Returns the oldest changes of a database that wait to be dispatched to a part, in the order of
  /// their numbers. The first change may be partly dispatched: see ``OutboxEntry/settledThrough``.
  ///
  /// The result ends early with the change at which the changes together have
  /// ``OutboxEntry/bytesAtOnce``.
  ///
  /// - Parameters:
  ///   - sequence: the number of a change; only later changes are returned.
  ///   - limit: the most changes returned.
  func undispatchedChanges(
    in part: DatabasePart, after sequence: Int64, limit: Int
  ) async throws -> [OutboxEntry]
}

extension OutboxReading {
  /// Returns the oldest changes of a database after `sequence` that are not dispatched to all its
  /// parts, in the order of their numbers.
  public func undispatchedChanges(
    in database: DatabaseID, after sequence: Int64, limit: Int
  ) async throws -> [OutboxEntry] {
    try await undispatchedChanges(in: .whole(database), after: sequence, limit: limit)
  }
}
