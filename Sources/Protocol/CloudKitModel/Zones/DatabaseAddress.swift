/// The address of one database: container, environment, scope and owner. No two databases have the
/// same address.
public struct DatabaseAddress: Sendable, Hashable {
  /// The identifier of the container, such as `iCloud.com.example.app`.
  public var container: String
  /// The environment of the container.
  public var environment: ContainerEnvironment
  /// The scope of the database in the container.
  public var scope: DatabaseScope
  /// The user record name of the owner; nil for the public database, which has no owner.
  public var owner: String?

  /// Creates an address.
  public init(
    container: String, environment: ContainerEnvironment, scope: DatabaseScope, owner: String?
  ) {
    self.container = container
    self.environment = environment
    self.scope = scope
    self.owner = owner
  }
}
