import CloudKitModel

/// One environment of a container. Each schema, credential and database belongs to one such pair.
public struct ContainerPlace: Sendable, Hashable {
  /// The container's identifier, such as `iCloud.com.example.app`.
  public var container: String
  /// The environment: development or production.
  public var environment: ContainerEnvironment

  /// Names an environment. The container's identifier is not checked.
  public init(container: String, environment: ContainerEnvironment) {
    self.container = container
    self.environment = environment
  }
}
