/// The servers that have a store open.
public protocol ServerList: Sendable {
  /// The registered servers, in the order of registration.
  func servers() async throws -> [RegisteredServer]
  /// The registered servers with the number of databases that each dispatches, for people.
  func listedServers() async throws -> [ListedServer]
}
