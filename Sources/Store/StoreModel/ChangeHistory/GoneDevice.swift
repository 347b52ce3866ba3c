import CloudKitModel

/// A device that notifications went to once.
public struct GoneDevice: Sendable, Hashable {
  public var kind: DeviceToken.Kind
  public var token: String
  public var registered: Timestamp
  public var gone: Timestamp
  public var reason: String

  package init(
    kind: DeviceToken.Kind, token: String, registered: Timestamp, gone: Timestamp, reason: String
  ) {
    self.kind = kind
    self.token = token
    self.registered = registered
    self.gone = gone
    self.reason = reason
  }
}
