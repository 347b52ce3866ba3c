import CloudKitModel
import SQLEngine
import StoreModel

extension AccountService {
  /// Returns a user's decisions for one app: the app of this container and environment.
  ///
  /// A permission has no element if the user never decided about it.
  ///
  /// - Throws: ``StoreError/Code/corrupt`` if a row has a permission or a status that this program
  ///   does not know.
  func applicationPermissions(
    of userRecordName: String, container: String, environment: ContainerEnvironment
  ) async throws -> [ApplicationPermission: ApplicationPermission.Status] {
    try await transactions.read {
      try ApplicationPermissionTable(transaction: $0)
        .statuses(of: userRecordName, container: container, environment: environment)
    }
  }

  /// Stores several decisions of a user in one transaction. A new decision replaces the earlier
  /// decision about the same permission.
  ///
  /// - Throws: ``StoreError/Code/userDeleted`` if the user is being deleted or was deleted
  ///   recently; ``ItemFailure/Code/quotaExceeded`` if the container is new and one too many.
  func setApplicationPermissions(
    _ statuses: [ApplicationPermission: ApplicationPermission.Status],
    by maker: ContainerMaker, container: String, environment: ContainerEnvironment
  ) async throws {
    let userRecordName = maker.userRecordName
    try await transactions.write(locking: .reference) { transaction in
      try UserDeletionTable(transaction: transaction).refuseDeleted(userRecordName)
      try ContainerTable(transaction: transaction).enter(container, for: maker)
      let permissions = ApplicationPermissionTable(transaction: transaction)
      for (permission, status) in statuses {
        try permissions.set(
          permission, to: status, of: userRecordName, container: container,
          environment: environment)
      }
    }
  }

  /// Finds one user for each lookup, in the order of the lookups, in one read transaction.
  ///
  /// The result has nil for a user who does not exist, and for a user who has not granted discovery
  /// to the app. So the app cannot distinguish these two cases.
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

  /// Returns up to `limit` users who have granted discovery, in the order of their record names.
  ///
  /// - Parameter limit: the most users in the result. No call returns the users after these.
  func discoverableUsers(
    container: String, environment: ContainerEnvironment, limit: Int
  ) async throws -> [User] {
    try await transactions.read {
      try UserTable(transaction: $0)
        .discoverableUsers(container: container, environment: environment, limit: limit)
    }
  }
}
