import CloudKitModel

/// Reads the schemas of containers.
public protocol SchemaReading: Sendable {
  /// The schema of a container in an environment; empty if nothing was saved or imported there.
  func schema(
    of container: String, in environment: ContainerEnvironment
  ) async throws -> ContainerSchema
  /// The types of the subscriptions that were saved in a container or deployed to it, in the order
  /// of their descriptions.
  func subscriptionTypes(
    of container: String, in environment: ContainerEnvironment
  ) async throws -> [SubscriptionType]
  /// The indexes that are being built or removed.
  func indexWork() async throws -> [IndexWork]
}
