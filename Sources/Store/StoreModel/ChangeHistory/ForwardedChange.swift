import CloudKitModel

/// A past change of a private database, as it concerns a user who takes or took part in shares.
public struct ForwardedChange: Sendable, Hashable {
  /// The user record name.
  public var user: String
  /// The change as the user learns of it, in the user's shared database.
  public var change: PastChange
  /// The reason why the user does not learn of the change; nil if the user does.
  public var obstacle: ForwardingObstacle?

  /// Creates a forwarded change.
  public init(user: String, change: PastChange, obstacle: ForwardingObstacle? = nil) {
    self.user = user
    self.change = change
    self.obstacle = obstacle
  }
}

/// The reason why a user does not learn of a change in another user's private database.
public enum ForwardingObstacle: Sendable, Hashable {
  /// The user took part in no share that shows the record: never, or not any more since a time. The
  /// time is nil if the store does not know it.
  case notParticipant(since: Timestamp?)
  /// The user was invited, and had not accepted when the change was committed.
  case notAccepted
  /// The user takes part in a share of the zone that does not show the record.
  case outsideHierarchy
}
