import CloudKitModel

/// One environment of a container.
public struct ContainerPlace: Sendable, Hashable {
  public var container: String
  public var environment: ContainerEnvironment

  public init(container: String, environment: ContainerEnvironment) {
    self.container = container
    self.environment = environment
  }
}
