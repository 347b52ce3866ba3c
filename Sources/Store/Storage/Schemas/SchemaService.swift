import CloudKitModel
import SQLEngine
import StoreModel

/// Schemas, roles and their members.
struct SchemaService: SchemaStore, RoleStore {
  let transactions: Transactions

  func schema(
    of container: String, in environment: ContainerEnvironment
  ) async throws -> ContainerSchema {
    try await transactions.read {
      try RecordTypeTable(transaction: $0).schema(of: container, in: environment)
    }
  }

  func subscriptionTypes(
    of container: String, in environment: ContainerEnvironment
  ) async throws -> [SubscriptionType] {
    try await transactions.read {
      try SubscriptionTypeTable(transaction: $0).types(of: container, in: environment)
    }
  }

  func roles(
    of userRecordName: String?, container: String, environment: ContainerEnvironment
  ) async throws -> Set<String> {
    let address = DatabaseAddress(
      container: container, environment: environment, scope: .public, owner: nil)
    return try await transactions.read {
      try RoleTable(transaction: $0).roles(of: userRecordName, at: address)
    }
  }

  func members(
    of role: String, container: String, environment: ContainerEnvironment
  ) async throws -> [String] {
    try await transactions.read { transaction in
      try RoleTable(transaction: transaction).members(of: role, in: container, environment)
    }
  }

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
