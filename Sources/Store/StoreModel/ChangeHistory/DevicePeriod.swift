import CloudKitModel

/// A period during which a device of a user was registered without a break under one client ID.
public struct DevicePeriod: Sendable, Hashable {
  public var kind: DeviceToken.Kind
  public var token: String
  public var apnsEnvironment: APNsEnvironment
  public var deviceID: String?
  public var began: Timestamp
  /// Nil if the registration has no end.
  public var ended: Timestamp?
  /// Why the period ended; nil for a device that is still registered, or whose registration
  /// expires.
  public var reason: String?

  package init(
    kind: DeviceToken.Kind, token: String, apnsEnvironment: APNsEnvironment, deviceID: String?,
    began: Timestamp, ended: Timestamp?, reason: String?
  ) {
    self.kind = kind
    self.token = token
    self.apnsEnvironment = apnsEnvironment
    self.deviceID = deviceID
    self.began = began
    self.ended = ended
    self.reason = reason
  }

  /// Whether pushes could be queued for the device at this time.
  public func contains(_ time: Timestamp) -> Bool {
    began <= time && !hasEnded(by: time)
  }

  public func hasEnded(by time: Timestamp) -> Bool {
    ended.map { $0 <= time } ?? false
  }
}
