import CloudKitModel
import StoreModel

extension HookedStore {
  func schema(
    of container: String, in environment: ContainerEnvironment
  ) async throws -> ContainerSchema {
    try await base.schema(of: container, in: environment)
  }

  func subscriptionTypes(
    of container: String, in environment: ContainerEnvironment
  ) async throws -> [SubscriptionType] {
    try await base.subscriptionTypes(of: container, in: environment)
  }

  func roles(
    of userRecordName: String?, container: String, environment: ContainerEnvironment
  ) async throws -> Set<String> {
    try await base.roles(of: userRecordName, container: container, environment: environment)
  }

  func members(
    of role: String, container: String, environment: ContainerEnvironment
  ) async throws -> [String] {
    try await base.members(of: role, container: container, environment: environment)
  }

  func setMembership(
    _ isMember: Bool, of userRecordName: String, in role: String, container: String,
    environment: ContainerEnvironment
  ) async throws {
    try await base.setMembership(
      isMember, of: userRecordName, in: role, container: container, environment: environment)
  }

  func importSchema(
    _ schema: ContainerSchema, of container: String, isTrial: Bool
  ) async throws -> SchemaOutcome {
    try await base.importSchema(schema, of: container, isTrial: isTrial)
  }

  func deploySchema(of container: String, isTrial: Bool) async throws -> SchemaOutcome {
    try await base.deploySchema(of: container, isTrial: isTrial)
  }

  func indexWork() async throws -> [IndexWork] { try await base.indexWork() }

  func continueIndexWork() async throws -> IndexWork? { try await base.continueIndexWork() }
}
