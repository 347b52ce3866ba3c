/// How much is kept of changes that were dispatched, for explanations.
public struct ChangeHistoryLimits: Sendable, Hashable {
  /// Changes of each database, the latest; with 0 none are kept.
  public var changes = 10_000
  /// How long they are kept, in seconds.
  public var age = 7.0 * 24 * 60 * 60
  /// Bytes of one; of a larger one it is kept that there was one, without its values.
  public var changeBytes = 16 << 10

  public init() {}
}
