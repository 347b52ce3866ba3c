/// The subscriptions of all users of a database, for the index that changes are matched against.
public protocol SubscriptionFeed: Sendable {
  /// Returns the changes of the subscriptions of a part's users since `position`, in the order of
  /// their versions.
  ///
  /// A call returns about `limit` changes of the database, and always all changes of a version. A
  /// reader continues from ``SubscriptionChanges/position`` while
  /// ``SubscriptionChanges/moreComing`` is true. At the end the reader has the store's
  /// subscriptions, even if some were saved and deleted meanwhile.
  func subscriptionChanges(
    in part: DatabasePart, since position: SubscriptionPosition, limit: Int
  ) async throws -> SubscriptionChanges
}

extension SubscriptionFeed {
  /// Returns the changes of all users' subscriptions since `position`, in the order of their
  /// versions.
  public func subscriptionChanges(
    in database: DatabaseID, since position: SubscriptionPosition, limit: Int
  ) async throws -> SubscriptionChanges {
    try await subscriptionChanges(in: .whole(database), since: position, limit: limit)
  }
}
