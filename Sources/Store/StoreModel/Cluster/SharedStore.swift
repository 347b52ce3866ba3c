/// What a store has for servers that share it.
public protocol SharedStore: Sendable {
  /// What servers that share the store know of each other; nil when one server has it alone.
  var servers: (any ClusterStore)? { get }
  /// Seconds that the store's clock is ahead of this machine's; 0 when one server has it alone.
  var clockOffset: Double { get }
  /// Where servers count together what they count; nil for a store that one server has for itself.
  var sharedLimits: (any SharedLimits)? { get }
}

extension SharedStore {
  /// Whether other servers may serve the store at the same time.
  public var isShared: Bool { sharedLimits != nil }
}
