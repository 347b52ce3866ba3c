/// The retention of dispatched changes, which are kept for explanations.
public struct ChangeHistoryLimits: Sendable, Hashable {
  /// The number of latest changes kept for each database; 0 keeps none.
  public var changes = 10_000
  /// The age in seconds up to which changes are kept.
  public var age = 7.0 * 24 * 60 * 60
  /// The most bytes of one change. A larger change is kept without its values.
  public var changeBytes = 16 << 10

  public init() {}
}
