/// The subscriptions of all users of a database, against which a server matches changes in memory.
///
/// `SubscriptionService` implements and documents the method. The protocol lets a test delay or fail
/// the calls of a dispatcher.
public protocol SubscriptionFeed: Sendable {
  func subscriptionChanges(
    in part: DatabasePart, since position: SubscriptionPosition, limit: Int
  ) async throws -> SubscriptionChanges
}

/// A reader's position in the changes of a database's subscriptions, which have the order of the
/// subscription version (``StoredSubscription``).
public struct SubscriptionPosition: Sendable, Hashable {
  /// The version up to which the reader has read; 0 before the first reading.
  public var version: Int64
  /// The greatest version of a deletion whose row was deleted when the reader last got changes. If
  /// rows of newer deletions are deleted later, the reader may have missed these deletions.
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
  /// Whether the reader must first remove all its subscriptions: it is new, or the store no longer
  /// has the rows of deletions that the reader has not read.
  public var startsAnew: Bool
  /// Whether there are further changes, which the next call returns.
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
