import CloudKitModel

/// Users' permissions to be discovered by apps, and the discovery of users by apps.
public protocol DiscoveryStore: Sendable {
  /// The user's decisions for the app of a container. Permissions that the app has not asked for
  /// are absent.
  func applicationPermissions(
    of userRecordName: String, container: String, environment: ContainerEnvironment
  ) async throws -> [ApplicationPermission: ApplicationPermission.Status]
  func setApplicationPermissions(
    _ statuses: [ApplicationPermission: ApplicationPermission.Status],
    of userRecordName: String, container: String, environment: ContainerEnvironment
  ) async throws
  /// The users for these keys, in the order of the keys; nil for a user who does not exist or has
  /// not permitted discovery by that key.
  func discoverableUsers(
    matching lookups: [UserLookup], container: String, environment: ContainerEnvironment
  ) async throws -> [User?]
  /// Users who permit discovery, in the order of their record names.
  func discoverableUsers(
    container: String, environment: ContainerEnvironment, limit: Int
  ) async throws -> [User]
}
