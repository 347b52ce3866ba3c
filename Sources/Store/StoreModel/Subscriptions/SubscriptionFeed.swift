/// The subscriptions of all users of a database, for the index that changes are matched against.
public protocol SubscriptionFeed: Sendable {
  /// What became of the subscriptions of a part's users since `position`, in the order of their versions.
  ///
  /// About `limit` changes of the database come at once, and always all of one version. Who reads on from
  /// ``SubscriptionChanges/position`` while ``SubscriptionChanges/moreComing`` holds has, in the end,
  /// what the store has, whatever was saved and deleted meanwhile.
  func subscriptionChanges(
    in part: DatabasePart, since position: SubscriptionPosition, limit: Int
  ) async throws -> SubscriptionChanges
}

extension SubscriptionFeed {
  /// What became of all users' subscriptions since `position`, in the order of their versions.
  public func subscriptionChanges(
    in database: DatabaseID, since position: SubscriptionPosition, limit: Int
  ) async throws -> SubscriptionChanges {
    try await subscriptionChanges(in: .whole(database), since: position, limit: limit)
  }
}
