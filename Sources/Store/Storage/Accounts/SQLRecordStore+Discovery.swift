import CloudKitModel
import SQLEngine
import StoreModel

extension SQLRecordStore {
  public func applicationPermissions(
    of userRecordName: String, container: String, environment: ContainerEnvironment
  ) async throws -> [ApplicationPermission: ApplicationPermission.Status] {
    try await read {
      try ApplicationPermissionTable(session: $0)
        .statuses(of: userRecordName, container: container, environment: environment)
    }
  }

  public func setApplicationPermissions(
    _ statuses: [ApplicationPermission: ApplicationPermission.Status],
    of userRecordName: String, container: String, environment: ContainerEnvironment
  ) async throws {
    try await write(locking: .reference) { session in
      try UserDeletionTable(session: session).refuseDeleted(userRecordName)
      let permissions = ApplicationPermissionTable(session: session)
      for (permission, status) in statuses {
        try permissions.set(
          permission, to: status, of: userRecordName, container: container,
          environment: environment)
      }
    }
  }

  public func discoverableUsers(
    matching lookups: [UserLookup], container: String, environment: ContainerEnvironment
  ) async throws -> [User?] {
    try await read { session in
      let users = UserTable(session: session)
      return try lookups.map {
        try users.discoverableUser(matching: $0, container: container, environment: environment)
      }
    }
  }

  public func discoverableUsers(
    container: String, environment: ContainerEnvironment, limit: Int
  ) async throws -> [User] {
    try await read {
      try UserTable(session: $0)
        .discoverableUsers(container: container, environment: environment, limit: limit)
    }
  }
}
