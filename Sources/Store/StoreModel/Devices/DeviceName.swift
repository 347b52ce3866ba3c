/// The identity of a device in lists: its kind and its token.
public struct DeviceName: Sendable, Hashable {
  /// The kind of the device.
  public var kind: DeviceToken.Kind
  /// The device's token: see ``DeviceToken/token``.
  public var token: String

  /// Creates the identity of a device. The device need not exist.
  public init(kind: DeviceToken.Kind, token: String) {
    self.kind = kind
    self.token = token
  }
}
