/// The subscriptions of all users of a database. A server keeps them in an index in memory, and
/// matches changes against this index.
public protocol SubscriptionFeed: Sendable {
  /// Returns the changes of subscriptions since a position, for the users of one part of a
  /// database. The order is that of the subscription versions (``StoredSubscription``).
  ///
  /// A call reads about `limit` saves and about `limit` deletions of the database, and always all
  /// changes of a version. A reader continues from ``SubscriptionChanges/position`` while
  /// ``SubscriptionChanges/moreComing`` is true. After the last call, the reader has the same
  /// subscriptions as the store, even if users changed some between the calls.
  func subscriptionChanges(
    in part: DatabasePart, since position: SubscriptionPosition, limit: Int
  ) async throws -> SubscriptionChanges
}

extension SubscriptionFeed {
  /// Returns the changes of all users' subscriptions since a position, in the order of the
  /// subscription versions.
  public func subscriptionChanges(
    in database: DatabaseID, since position: SubscriptionPosition, limit: Int
  ) async throws -> SubscriptionChanges {
    try await subscriptionChanges(in: .whole(database), since: position, limit: limit)
  }
}
