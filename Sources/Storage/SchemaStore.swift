import CloudKitModel

/// What a store knows of schemas: record types, fields, roles and who has them.
///
/// Every change is one transaction. It holds from the next transaction of each process that has the
/// store open.
public protocol SchemaStore: Sendable {
  /// The schema of a container in an environment; empty when nothing was saved or imported there.
  func schema(
    of container: String, in environment: ContainerEnvironment
  ) async throws -> ContainerSchema
  /// The types of the query subscriptions that were saved in a container or deployed to it, in the
  /// order of their descriptions.
  func subscriptionTypes(
    of container: String, in environment: ContainerEnvironment
  ) async throws -> [SubscriptionType]

  /// The roles of a user in a container: `_world`, `_icloud` and those that were given; for an
  /// anonymous caller `_world` alone.
  func roles(
    of userRecordName: String?, container: String, environment: ContainerEnvironment
  ) async throws -> Set<String>
  /// The users who were given a role, in the order of their record names.
  func members(
    of role: String, container: String, environment: ContainerEnvironment
  ) async throws -> [String]
  /// Gives a user a role of the container, or takes it away.
  ///
  /// - Throws: ``StoreError/Code/notFound`` when the schema has no such role. The system's roles
  ///   cannot be given.
  func setMembership(
    _ isMember: Bool, of userRecordName: String, in role: String, container: String,
    environment: ContainerEnvironment
  ) async throws
}
