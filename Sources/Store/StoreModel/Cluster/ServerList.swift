/// The servers that have a store open.
public protocol ServerList: Sendable {
  /// Returns the registered servers, in the order of their IDs. The registrations of some may have
  /// expired.
  func servers() async throws -> [RegisteredServer]
  /// Returns the registered servers with the remaining time of each registration and the number of
  /// its leases, for people.
  func listedServers() async throws -> [ListedServer]
}
