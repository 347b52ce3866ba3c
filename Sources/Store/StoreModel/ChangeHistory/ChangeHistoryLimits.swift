/// The retention of dispatched changes, which are kept for explanations. A change is deleted when
/// ``changes`` or ``age`` is exceeded, with a little delay.
public struct ChangeHistoryLimits: Sendable, Hashable {
  /// The number of latest changes kept for each database; 0 keeps none.
  public var changes = 10_000
  /// The age in seconds up to which changes are kept.
  public var age = 7.0 * 24 * 60 * 60
  /// The most bytes of one change. A larger change is kept without its values.
  public var changeBytes = 16 << 10

  /// The default limits: 10,000 changes of each database, 7 days, and 16 KiB for one change.
  public init() {}
}
