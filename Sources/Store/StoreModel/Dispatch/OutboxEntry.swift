import CloudKitModel

/// A committed change in the outbox that waits to be dispatched.
///
/// The transaction that makes a change writes the entry, so every committed change has one. The
/// entry carries the changed record as it was committed, so matching reads no records.
public struct OutboxEntry: Sendable, Hashable {
  /// The part of the database's subscribers for which the entry waits.
  public var part: DatabasePart
  /// The change's number, which rises with each change of the database, in the order of the
  /// commits.
  public var sequence: Int64
  /// The database's subscription version when the change was committed.
  public var subscriptionVersion: Int64
  /// The change: the event, the record, and the user and device that made it.
  public var change: Change
  /// The last subscription for which the change is settled, in the order of the bytes of subscriber
  /// and ID; nil before the first. See ``MatchedChange/isWhole``.
  public var settledThrough: SubscriptionName?
  /// Whether the change is too large for the change history.
  package var isLarge = false

  /// The database of the change.
  public var database: DatabaseID { part.database }

  /// Creates an entry that waits for a part's subscribers.
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
