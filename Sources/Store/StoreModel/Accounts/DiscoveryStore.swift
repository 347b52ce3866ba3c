import CloudKitModel

/// Users' permissions to be discovered by apps, and the discovery of users by apps.
public protocol DiscoveryStore: Sendable {
  /// Returns the user's decisions for the app of a container. Permissions about which the user has
  /// not decided are absent.
  func applicationPermissions(
    of userRecordName: String, container: String, environment: ContainerEnvironment
  ) async throws -> [ApplicationPermission: ApplicationPermission.Status]
  /// Stores decisions of the user in one transaction. They replace earlier decisions about the same
  /// permissions.
  ///
  /// - Throws: ``StoreError/Code/userDeleted`` if the user is being deleted or was deleted
  ///   recently.
  func setApplicationPermissions(
    _ statuses: [ApplicationPermission: ApplicationPermission.Status],
    of userRecordName: String, container: String, environment: ContainerEnvironment
  ) async throws
  /// Returns one element for each lookup, in the order of the lookups. The element is nil for a
  /// user who does not exist or has not granted discovery, so that an app cannot distinguish the
  /// two.
  func discoverableUsers(
    matching lookups: [UserLookup], container: String, environment: ContainerEnvironment
  ) async throws -> [User?]
  /// Returns up to `limit` users who have granted discovery, in the order of their record names. A
  /// second call cannot continue behind the last one.
  func discoverableUsers(
    container: String, environment: ContainerEnvironment, limit: Int
  ) async throws -> [User]
}
