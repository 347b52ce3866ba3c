import CloudKitModel

/// A committed change in the outbox that waits to be dispatched.
public struct OutboxEntry: Sendable, Hashable {
  /// The part of the database's subscribers for which it waits.
  public var part: DatabasePart
  /// Rises with each change of the database, in the order of the commits.
  public var sequence: Int64
  /// The database's subscription version when the change was committed.
  public var subscriptionVersion: Int64
  public var change: Change
  /// The change is settled for subscriptions up to this one, by the bytes of subscriber and ID; nil
  /// before the first. See ``MatchedChange/isWhole``.
  public var settledThrough: SubscriptionName?
  /// Whether the change is too large for the change history.
  package var isLarge = false

  public var database: DatabaseID { part.database }

  public init(
    part: DatabasePart, sequence: Int64, subscriptionVersion: Int64, change: Change,
    settledThrough: SubscriptionName? = nil
  ) {
    self.part = part
    self.sequence = sequence
    self.subscriptionVersion = subscriptionVersion
    self.change = change
    self.settledThrough = settledThrough
  }
}
