import CloudKitModel

/// Reads of the schemas of containers.
public protocol SchemaReading: Sendable {
  /// Returns the schema of a container in an environment; empty if nothing was saved or imported
  /// there.
  func schema(
    of container: String, in environment: ContainerEnvironment
  ) async throws -> ContainerSchema
  /// Returns the types of the subscriptions that were saved in a container or deployed to it, in
  /// the order of their descriptions.
  func subscriptionTypes(
    of container: String, in environment: ContainerEnvironment
  ) async throws -> [SubscriptionType]
  /// Returns the indexes that are being built or removed.
  func indexWork() async throws -> [IndexWork]
}
