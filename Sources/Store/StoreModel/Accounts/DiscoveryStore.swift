import CloudKitModel

/// The permissions that users grant to apps, and the discovery of users by apps. An app can
/// discover only a user who has granted this permission.
public protocol DiscoveryStore: Sendable {
  /// Returns the user's decisions for the app of a container. If the user has not decided about a
  /// permission, the result has no element for it.
  func applicationPermissions(
    of userRecordName: String, container: String, environment: ContainerEnvironment
  ) async throws -> [ApplicationPermission: ApplicationPermission.Status]
  /// Stores decisions of the user in one transaction. They replace earlier decisions about the same
  /// permissions.
  ///
  /// - Parameter maker: the user.
  /// - Throws: ``StoreError/Code/userDeleted`` if the user is being deleted or was deleted
  ///   recently; ``ItemFailure/Code/quotaExceeded`` if the container is new and one too many.
  func setApplicationPermissions(
    _ statuses: [ApplicationPermission: ApplicationPermission.Status],
    by maker: ContainerMaker, container: String, environment: ContainerEnvironment
  ) async throws
  /// Returns one element for each lookup, in the order of the lookups. An element is nil if the
  /// user does not exist, and also if the user has not granted discovery. So an app cannot
  /// distinguish these two cases.
  func discoverableUsers(
    matching lookups: [UserLookup], container: String, environment: ContainerEnvironment
  ) async throws -> [User?]
  /// Returns up to `limit` users who have granted discovery, in the order of their record names. No
  /// call returns the users after these.
  func discoverableUsers(
    container: String, environment: ContainerEnvironment, limit: Int
  ) async throws -> [User]
}
