import CloudKitModel

/// The security roles of schemas and their members.
public protocol RoleStore: Sendable {
  /// Returns the roles of a user in a container: `_world`, `_icloud` and those granted to the user;
  /// `_world` alone for an anonymous caller.
  func roles(
    of userRecordName: String?, container: String, environment: ContainerEnvironment
  ) async throws -> Set<String>
  /// Returns the users who were granted a role, in the order of their record names.
  func members(
    of role: String, container: String, environment: ContainerEnvironment
  ) async throws -> [String]
  /// Grants a role of the container to a user, or revokes it.
  ///
  /// - Throws: ``StoreError/Code/notFound`` if the schema has no such role. The system's roles
  ///   cannot be granted.
  func setMembership(
    _ isMember: Bool, of userRecordName: String, in role: String, container: String,
    environment: ContainerEnvironment
  ) async throws
}
