/// The services for servers that share a store. A store in a file or in memory belongs to one
/// server, and these services are then absent.
public protocol SharedStore: Sendable {
  /// Cluster membership and leases; nil if one server uses the store alone.
  var servers: (any ClusterStore)? { get }
  /// Seconds by which the store's clock is ahead of this machine's; 0 if one server uses the store
  /// alone.
  var clockOffset: Double { get }
  /// The limits that servers count together; nil if one server uses the store alone.
  var sharedLimits: (any SharedLimits)? { get }
}

extension SharedStore {
  /// Whether other servers may serve the store at the same time.
  public var isShared: Bool { sharedLimits != nil }
}
