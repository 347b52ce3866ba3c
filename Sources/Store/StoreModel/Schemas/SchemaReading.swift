import CloudKitModel

/// The reads of the schemas of containers.
public protocol SchemaReading: Sendable {
  /// Returns the schema of a container in an environment. The schema is empty if nobody has saved a
  /// record or imported a schema there.
  func schema(
    of container: String, in environment: ContainerEnvironment
  ) async throws -> ContainerSchema
  /// Returns the types of the subscriptions that were saved in a container or deployed to it, in
  /// the order of their descriptions.
  func subscriptionTypes(
    of container: String, in environment: ContainerEnvironment
  ) async throws -> [SubscriptionType]
  /// Returns the work on indexes that are being built or removed.
  ///
  /// - Complexity: O(*n*), where *n* is the number of records of the types whose indexes are being
  ///   built.
  func indexWork() async throws -> [IndexWork]
}
