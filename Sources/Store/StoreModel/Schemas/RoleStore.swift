import CloudKitModel

/// The roles that schemas have, and who has them.
public protocol RoleStore: Sendable {
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
