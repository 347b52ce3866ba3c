import CloudKitModel
import Storage

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
}
