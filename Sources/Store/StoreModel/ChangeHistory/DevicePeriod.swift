import CloudKitModel

/// A period during which a device of a user was registered without a break under one client ID.
public struct DevicePeriod: Sendable, Hashable {
  /// The kind of the device.
  public var kind: DeviceToken.Kind
  /// The device's token: see ``DeviceToken/token``.
  public var token: String
  /// The APNs environment of the registration. It has a meaning for APNs tokens only.
  public var apnsEnvironment: APNsEnvironment
  /// The client's name for its device; nil if it gave none.
  public var deviceID: String?
  /// The time of the registration.
  public var began: Timestamp
  /// The end of the period; nil if the registration has no end. It lies in the future for a
  /// registration that expires.
  public var ended: Timestamp?
  /// The reason why the period ended; nil for a device that is still registered, or whose
  /// registration expires.
  public var reason: String?

  /// Creates a period from a present registration or the row of a former one.
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

  /// Whether the period is over at this time. A period without an end never is.
  public func hasEnded(by time: Timestamp) -> Bool {
    ended.map { $0 <= time } ?? false
  }
}
