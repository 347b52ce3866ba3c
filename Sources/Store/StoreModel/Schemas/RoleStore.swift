import CloudKitModel

/// The security roles of schemas and their members.
public protocol RoleStore: Sendable {
  /// Returns the roles of a user in a container: `_world`, `_icloud`, and the roles that were
  /// granted to the user. If `userRecordName` is nil, the caller is anonymous and has only
  /// `_world`.
  func roles(
    of userRecordName: String?, container: String, environment: ContainerEnvironment
  ) async throws -> Set<String>
  /// Returns the users who were granted a role, in the order of their record names.
  func members(
    of role: String, container: String, environment: ContainerEnvironment
  ) async throws -> [String]
  /// Grants a role of the container to a user, or revokes the role.
  ///
  /// - Parameter isMember: true to grant the role, false to revoke it.
  /// - Throws: ``StoreError/Code/notFound`` if the schema has no such role, or if the role is one
  ///   of the system, such as `_icloud`; ``StoreError/Code/userDeleted`` if the user is being
  ///   deleted or was deleted recently.
  func setMembership(
    _ isMember: Bool, of userRecordName: String, in role: String, container: String,
    environment: ContainerEnvironment
  ) async throws
}
