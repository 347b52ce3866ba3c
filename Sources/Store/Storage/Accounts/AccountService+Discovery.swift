import CloudKitModel
import SQLEngine
import StoreModel

extension AccountService {
  func applicationPermissions(
    of userRecordName: String, container: String, environment: ContainerEnvironment
  ) async throws -> [ApplicationPermission: ApplicationPermission.Status] {
    try await transactions.read {
      try ApplicationPermissionTable(transaction: $0)
        .statuses(of: userRecordName, container: container, environment: environment)
    }
  }

  func setApplicationPermissions(
    _ statuses: [ApplicationPermission: ApplicationPermission.Status],
    of userRecordName: String, container: String, environment: ContainerEnvironment
  ) async throws {
    try await transactions.write(locking: .reference) { transaction in
      try UserDeletionTable(transaction: transaction).refuseDeleted(userRecordName)
      let permissions = ApplicationPermissionTable(transaction: transaction)
      for (permission, status) in statuses {
        try permissions.set(
          permission, to: status, of: userRecordName, container: container,
          environment: environment)
      }
    }
  }

  func discoverableUsers(
    matching lookups: [UserLookup], container: String, environment: ContainerEnvironment
  ) async throws -> [User?] {
    try await transactions.read { transaction in
      let users = UserTable(transaction: transaction)
      return try lookups.map {
        try users.discoverableUser(matching: $0, container: container, environment: environment)
      }
    }
  }

  func discoverableUsers(
    container: String, environment: ContainerEnvironment, limit: Int
  ) async throws -> [User] {
    try await transactions.read {
      try UserTable(transaction: $0)
        .discoverableUsers(container: container, environment: environment, limit: limit)
    }
  }
}
