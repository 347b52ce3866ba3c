/// How far a reader has followed the subscriptions of a database.
public struct SubscriptionPosition: Sendable, Hashable {
  /// The reader has what became of them up to this version.
  public var version: Int64
  /// Deletions up to this version were forgotten before the reader began, so that it misses none of
  /// them.
  public var forgottenVersion: Int64

  /// Before everything.
  public static let beginning = SubscriptionPosition(version: 0, forgottenVersion: 0)

  public init(version: Int64, forgottenVersion: Int64) {
    self.version = version
    self.forgottenVersion = forgottenVersion
  }
}

/// What became of a database's subscriptions since a position.
public struct SubscriptionChanges: Sendable {
  /// What these changes lead to.
  public var position: SubscriptionPosition
  public var saved: [StoredSubscription]
  public var deleted: [SubscriptionName]
  /// Whether these are the first of all changes: the reader has nothing yet, or deletions were
  /// forgotten that it has not heard of. It drops what it has.
  public var startsAnew: Bool
  /// Whether there are later ones.
  public var moreComing: Bool

  public init(
    position: SubscriptionPosition, saved: [StoredSubscription],
    deleted: [SubscriptionName], startsAnew: Bool, moreComing: Bool
  ) {
    self.position = position
    self.saved = saved
    self.deleted = deleted
    self.startsAnew = startsAnew
    self.moreComing = moreComing
  }
}
