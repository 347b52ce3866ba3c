/// Identifies a device.
public struct DeviceName: Sendable, Hashable {
  public var kind: DeviceToken.Kind
  public var token: String

  public init(kind: DeviceToken.Kind, token: String) {
    self.kind = kind
    self.token = token
  }
}
