import CloudKitModel
import SQLEngine
import StoreModel

/// The service for the schemas of containers, their roles, and the members of roles.
struct SchemaService: SchemaStore, RoleStore {
  let transactions: Transactions

  /// Returns the schema of a container in an environment.
  func schema(
    of container: String, in environment: ContainerEnvironment
  ) async throws -> ContainerSchema {
    try await transactions.read {
      try RecordTypeTable(transaction: $0).schema(of: container, in: environment)
    }
  }

  /// Returns the subscription types in the schema of a container, in the order of their
  /// descriptions.
  func subscriptionTypes(
    of container: String, in environment: ContainerEnvironment
  ) async throws -> [SubscriptionType] {
    try await transactions.read {
      try SubscriptionTypeTable(transaction: $0).types(of: container, in: environment)
    }
  }

  /// Returns the roles of a user in a container: `_world`, `_icloud` and those granted to the user.
  /// An anonymous caller, whose name is nil, has `_world` only.
  func roles(
    of userRecordName: String?, container: String, environment: ContainerEnvironment
  ) async throws -> Set<String> {
    let address = DatabaseAddress(
      container: container, environment: environment, scope: .public, owner: nil)
    return try await transactions.read {
      try RoleTable(transaction: $0).roles(of: userRecordName, at: address)
    }
  }

  /// Returns the users who were granted a role, in the order of their record names.
  func members(
    of role: String, container: String, environment: ContainerEnvironment
  ) async throws -> [String] {
    try await transactions.read { transaction in
      try RoleTable(transaction: transaction).members(of: role, in: container, environment)
    }
  }

  /// Grants a role of the container to a user, or revokes it. Each process uses the new roles from
  /// its next transaction on.
  ///
  /// - Parameter isMember: true to grant the role, false to revoke it.
  ///
  /// - Throws: ``StoreError/Code/notFound`` if the schema has no such role;
  ///   ``StoreError/Code/userDeleted`` if the user is being deleted, or was a short time ago.
  func setMembership(
    _ isMember: Bool, of userRecordName: String, in role: String, container: String,
    environment: ContainerEnvironment
  ) async throws {
    try await transactions.write(locking: .reference) { transaction in
      try UserDeletionTable(transaction: transaction).refuseDeleted(userRecordName)
      let roles = RoleTable(transaction: transaction)
      guard try roles.custom(of: container, in: environment).contains(role) else {
        throw StoreError(
          .notFound,
          "the \(environment.rawValue) schema of \(container) has no role '\(role)'; import a "
            + "schema that creates it")
      }
      try roles.setMembership(
        isMember, of: userRecordName, in: role, of: container, environment)
      try CounterTable(transaction: transaction).raiseCatalogVersion()
    }
  }

  /// Returns the indexes that are being built or removed. For an index that is being built, the
  /// method also counts the records of the type.
  ///
  /// - Complexity: linear in the number of these records.
  func indexWork() async throws -> [IndexWork] {
    try await transactions.read { transaction in
      try IndexWorkTable(transaction: transaction).pending().map { pending in
        var work = pending.work
        if work.phase == .building {
          work.total = try IndexWorker(transaction: transaction).scan(for: pending)?.countRecords()
        }
        return work
      }
    }
  }
}
