import CloudKitModel

/// The identity of a registration: a kind, a token, and the container and environment whose
/// notifications the device gets. One token may be registered in several containers.
public struct DeviceName: Sendable, Hashable {
  /// The kind of the device.
  public var kind: DeviceToken.Kind
  /// The device's token: see ``DeviceToken/token``.
  public var token: String
  /// The container whose notifications the device gets.
  public var container: String
  /// The environment of the container.
  public var environment: ContainerEnvironment

  /// Creates the identity of a registration, which need not exist.
  public init(
    kind: DeviceToken.Kind, token: String, container: String, environment: ContainerEnvironment
  ) {
    self.kind = kind
    self.token = token
    self.container = container
    self.environment = environment
  }
}

extension DeviceToken {
  /// The identity of the registration.
  public var name: DeviceName {
    DeviceName(kind: kind, token: token, container: container, environment: environment)
  }
}
