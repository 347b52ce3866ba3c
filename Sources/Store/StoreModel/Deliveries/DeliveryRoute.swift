/// A route of notifications to devices: those of one container through one service. The delivery
/// worker serves each route by itself, so a service that does not answer delays no other route.
public struct DeliveryRoute: Sendable, Hashable {
  /// The number under which the store keeps a route.
  public struct ID: RawRepresentable, Sendable, Hashable {
    /// The number.
    public var rawValue: Int64

    /// Restores an ID from its number.
    public init(rawValue: Int64) {
      self.rawValue = rawValue
    }
  }

  /// The kind of device, which decides about the service.
  public var kind: DeviceToken.Kind
  /// The container whose notifications take the route.
  public var container: String
  /// The APNs environment. It has a meaning for APNs alone.
  public var apnsEnvironment: APNsEnvironment

  /// Describes a route from its parts.
  public init(kind: DeviceToken.Kind, container: String, apnsEnvironment: APNsEnvironment) {
    self.kind = kind
    self.container = container
    self.apnsEnvironment = apnsEnvironment
  }

  /// Describes the route to a device.
  public init(to device: DeviceToken) {
    self.init(
      kind: device.kind, container: device.container, apnsEnvironment: device.apnsEnvironment)
  }
}
