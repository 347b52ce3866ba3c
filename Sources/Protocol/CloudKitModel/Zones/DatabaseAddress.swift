/// What tells one CloudKit database from all others: container, environment, scope and owner.
public struct DatabaseAddress: Sendable, Hashable {
  /// The container's identifier, such as `iCloud.com.example.app`.
  public var container: String
  public var environment: ContainerEnvironment
  public var scope: DatabaseScope
  /// The user record name of the owner; nil for the public database, which nobody owns.
  public var owner: String?

  public init(
    container: String, environment: ContainerEnvironment, scope: DatabaseScope, owner: String?
  ) {
    self.container = container
    self.environment = environment
    self.scope = scope
    self.owner = owner
  }
}
