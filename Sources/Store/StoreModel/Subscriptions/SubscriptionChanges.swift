/// A reader's position in the changes of a database's subscriptions.
public struct SubscriptionPosition: Sendable, Hashable {
  /// The subscription version up to which the reader has read; 0 before the first reading.
  public var version: Int64
  /// The version up to which deletions were forgotten before the reader began. The reader cannot
  /// miss these deletions.
  public var forgottenVersion: Int64

  /// The position before all changes.
  public static let beginning = SubscriptionPosition(version: 0, forgottenVersion: 0)

  /// Creates a position from two subscription versions of the database.
  public init(version: Int64, forgottenVersion: Int64) {
    self.version = version
    self.forgottenVersion = forgottenVersion
  }
}

/// The changes of a database's subscriptions since a position.
public struct SubscriptionChanges: Sendable {
  /// The position after these changes.
  public var position: SubscriptionPosition
  /// The subscriptions that were saved, in their latest state.
  public var saved: [StoredSubscription]
  /// The subscriptions that were deleted.
  public var deleted: [SubscriptionName]
  /// Whether these changes start from the beginning: the reader is new, or deletions that it has
  /// not read were forgotten. The reader drops its subscriptions.
  public var startsAnew: Bool
  /// Whether there are later changes, which the next call returns.
  public var moreComing: Bool

  /// Creates a list of changes that ends at `position`.
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
