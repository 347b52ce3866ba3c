/// The services for servers that share a store in PostgreSQL. A store in a file or in memory
/// belongs to one server, and has none of these services.
public protocol SharedStore: Sendable {
  /// The registrations of servers and the leases of databases; nil if one server uses the store
  /// alone.
  var servers: (any ClusterStore)? { get }
  /// The seconds by which the store's clock is ahead of this machine's clock; negative if it is
  /// behind, and 0 if one server uses the store alone.
  var clockOffset: Double { get }
  /// The limits that servers count together; nil if one server uses the store alone.
  var sharedLimits: (any SharedLimits)? { get }
}

extension SharedStore {
  /// Whether other servers may serve the store at the same time.
  public var isShared: Bool { sharedLimits != nil }
}
