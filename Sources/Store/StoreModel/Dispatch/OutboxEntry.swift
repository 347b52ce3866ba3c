import CloudKitModel

/// A committed change that waits to be dispatched, as it stands in the outbox.
public struct OutboxEntry: Sendable, Hashable {
  /// For whom it waits.
  public var part: DatabasePart
  /// Rises with each change of the database, in the order of the commits.
  public var sequence: Int64
  /// The database's subscription version when the change was committed.
  public var subscriptionVersion: Int64
  public var change: Change
  /// What the change led to is settled for subscriptions up to this one, by the bytes of subscriber
  /// and ID; nil before the first. See ``MatchedChange/isWhole``.
  public var settledThrough: SubscriptionName?
  /// Whether it is too large to be kept when it is dispatched.
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
