/// A route of notifications to devices: a container, a kind of device, an APNs environment and an app.
/// The delivery worker serves each route independently. So a service that does not answer delays only
/// its own routes.
public struct DeliveryRoute: Sendable, Hashable {
  /// The number of a route in the store.
  public struct ID: RawRepresentable, Sendable, Hashable {
    /// The number.
    public var rawValue: Int64

    /// Restores an ID from its number.
    public init(rawValue: Int64) {
      self.rawValue = rawValue
    }
  }

  /// The kind of the devices. It determines the service that gets the pushes.
  public var kind: DeviceToken.Kind
  /// The container whose notifications are sent on the route.
  public var container: String
  /// The APNs environment. Only for the kind ``DeviceToken/Kind/apns`` does the value have a
  /// meaning.
  public var apnsEnvironment: APNsEnvironment
  /// The bundle ID that the devices' registrations name; nil for devices that name none.
  public var bundleID: String?

  /// Describes a route from its parts.
  public init(
    kind: DeviceToken.Kind, container: String, apnsEnvironment: APNsEnvironment,
    bundleID: String? = nil
  ) {
    self.kind = kind
    self.container = container
    self.apnsEnvironment = apnsEnvironment
    self.bundleID = bundleID
  }

  /// Describes the route to a device.
  public init(to device: DeviceToken) {
    self.init(
      kind: device.kind, container: device.container, apnsEnvironment: device.apnsEnvironment,
      bundleID: device.bundleID)
  }
}
