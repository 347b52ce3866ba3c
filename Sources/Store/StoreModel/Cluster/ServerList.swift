/// The servers that have a store open.
public protocol ServerList: Sendable {
  /// Returns the registered servers, in the order of registration. Some may have expired.
  func servers() async throws -> [RegisteredServer]
  /// Returns the registered servers with the number of leases of each, for people.
  func listedServers() async throws -> [ListedServer]
}
