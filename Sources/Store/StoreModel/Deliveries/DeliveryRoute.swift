/// A route of notifications to devices: those of one container through one service.
public struct DeliveryRoute: Sendable, Hashable {
  public struct ID: RawRepresentable, Sendable, Hashable {
    public var rawValue: Int64

    public init(rawValue: Int64) {
      self.rawValue = rawValue
    }
  }

  public var kind: DeviceToken.Kind
  public var container: String
  public var apnsEnvironment: APNsEnvironment

  public init(kind: DeviceToken.Kind, container: String, apnsEnvironment: APNsEnvironment) {
    self.kind = kind
    self.container = container
    self.apnsEnvironment = apnsEnvironment
  }

  public init(to device: DeviceToken) {
    self.init(
      kind: device.kind, container: device.container, apnsEnvironment: device.apnsEnvironment)
  }
}
