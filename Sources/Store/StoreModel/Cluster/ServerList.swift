/// The servers that have a store open.
public protocol ServerList: Sendable {
  /// Those that are registered, in the order in which they came.
  func servers() async throws -> [RegisteredServer]
  /// The same for people, with what each of them dispatches.
  func listedServers() async throws -> [ListedServer]
}
