/// The limits of the change history: the dispatched changes that the store keeps for explanations.
/// A change is dispatched when all its notifications are in the log. The store deletes a change
/// some time after the change exceeds ``changes`` or ``age``.
public struct ChangeHistoryLimits: Sendable, Hashable {
  /// The number of latest changes that the store keeps for each database; 0 keeps none.
  public var changes = 10_000
  /// The seconds from the dispatch of a change until the store may delete the change.
  public var age = 7.0 * 24 * 60 * 60
  /// The most bytes of one change. The store keeps a larger change without the record's fields.
  public var changeBytes = 16 << 10

  /// The default limits: 10,000 changes of each database, 7 days, and 16 KiB for one change.
  public init() {}
}
