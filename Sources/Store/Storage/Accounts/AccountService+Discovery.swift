import CloudKitModel
import SQLEngine
import StoreModel

extension AccountService {
  /// Returns the user's decisions for the app of a container. A permission without a decision has
  /// no element.
  public func applicationPermissions(
    of userRecordName: String, container: String, environment: ContainerEnvironment
  ) async throws -> [ApplicationPermission: ApplicationPermission.Status] {
    try await transactions.read {
      try ApplicationPermissionTable(transaction: $0)
        .statuses(of: userRecordName, container: container, environment: environment)
    }
  }

  /// Stores decisions of the user. They replace earlier decisions about the same permissions.
  ///
  /// - Throws: ``StoreError/Code/userDeleted`` if the user is being deleted or was deleted
  ///   recently; ``ItemFailure/Code/quotaExceeded`` if the container is new and one too many.
  public func setApplicationPermissions(
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

  /// Returns one element for each lookup, in their order. An element is nil if the user does not
  /// exist or has not granted discovery: an app cannot distinguish these two cases.
  public func discoverableUsers(
    matching lookups: [UserLookup], container: String, environment: ContainerEnvironment
  ) async throws -> [User?] {
    try await transactions.read { transaction in
      let users = UserTable(transaction: transaction)
      return try lookups.map {
        try users.discoverableUser(matching: $0, container: container, environment: environment)
      }
    }
  }

  /// Returns the first `limit` users who have granted discovery, in the order of their record
  /// names. No call returns later ones.
  public func discoverableUsers(
    container: String, environment: ContainerEnvironment, limit: Int
  ) async throws -> [User] {
    try await transactions.read {
      try UserTable(transaction: $0)
        .discoverableUsers(container: container, environment: environment, limit: limit)
    }
  }
}
