import CloudKitModel

/// What users permit apps to find of them, and the users whom apps find.
public protocol DiscoveryStore: Sendable {
  /// What a user has decided to permit the app of a container, or not. What the user was not asked
  /// for is absent.
  func applicationPermissions(
    of userRecordName: String, container: String, environment: ContainerEnvironment
  ) async throws -> [ApplicationPermission: ApplicationPermission.Status]
  func setApplicationPermissions(
    _ statuses: [ApplicationPermission: ApplicationPermission.Status],
    of userRecordName: String, container: String, environment: ContainerEnvironment
  ) async throws
  /// The users who are looked for, in the order asked for; nil for those who do not exist or do not
  /// permit it to be found.
  func discoverableUsers(
    matching lookups: [UserLookup], container: String, environment: ContainerEnvironment
  ) async throws -> [User?]
  /// Users who permit it to be found, in the order of their record names.
  func discoverableUsers(
    container: String, environment: ContainerEnvironment, limit: Int
  ) async throws -> [User]
}
