import CloudKitModel
import StoreModel

/// The schemas of containers, their security roles, and the members of roles.
///
/// Every change is one transaction. Each process uses it from its next transaction on.
public struct SchemaService: Sendable {
  let transactions: Transactions

  /// The schema is empty if nobody has saved a record or imported a schema.
  public func schema(
    of container: String, in environment: ContainerEnvironment
  ) async throws -> ContainerSchema {
    try await transactions.read {
      try RecordTypeTable(transaction: $0).schema(of: container, in: environment)
    }
  }

  /// The types of subscriptions that were saved or deployed, in the order of their descriptions.
  public func subscriptionTypes(
    of container: String, in environment: ContainerEnvironment
  ) async throws -> [SubscriptionType] {
    try await transactions.read {
      try SubscriptionTypeTable(transaction: $0).types(of: container, in: environment)
    }
  }

  /// `_world`, `_icloud` for a signed-in user, and the roles that were granted to the user.
  public func roles(
    of userRecordName: String?, container: String, environment: ContainerEnvironment
  ) async throws -> Set<String> {
    let address = DatabaseAddress(
      container: container, environment: environment, scope: .public, owner: nil)
    return try await transactions.read {
      try RoleTable(transaction: $0).roles(of: userRecordName, at: address)
    }
  }

  /// Users in the order of their record names.
  public func members(
    of role: String, container: String, environment: ContainerEnvironment
  ) async throws -> [String] {
    try await transactions.read { transaction in
      try RoleTable(transaction: transaction).members(of: role, in: container, environment)
    }
  }

  /// Grants or revokes a role.
  ///
  /// - Throws: ``StoreError/Code/notFound`` if the schema has no such role, or if the role is one
  ///   of the system, such as `_icloud`; ``StoreError/Code/userDeleted`` if the user is being
  ///   deleted or was deleted recently.
  public func setMembership(
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

  /// Returns the work on indexes that are being built or removed.
  ///
  /// - Complexity: O(*n*), where *n* is the number of records of the types whose indexes are being
  ///   built.
  public func indexWork() async throws -> [IndexWork] {
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
