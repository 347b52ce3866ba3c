import CloudKitModel

/// A period during which a device was registered for one user without a break. The container, the
/// environments, the bundle ID and the client's name for the device stay the same in a period.
public struct DevicePeriod: Sendable, Hashable {
  /// The kind of the device.
  public var kind: DeviceToken.Kind
  /// The device's token: see ``DeviceToken/token``.
  public var token: String
  /// The APNs environment of the registration. Only for an APNs token does the value have a
  /// meaning.
  public var apnsEnvironment: APNsEnvironment
  /// The bundle ID that the registration named: see ``DeviceToken/bundleID``.
  public var bundleID: String?
  /// The client's name for its device; nil if the client sent none.
  public var deviceID: String?
  /// The time of the first registration in the period.
  public var began: Timestamp
  /// The end of the period; nil for a present registration that never expires. For a present
  /// registration that expires, the time of the expiry.
  public var ended: Timestamp?
  /// The reason why the period ended; nil for a present registration.
  public var reason: String?

  /// Creates a period from a present registration or the row of a former one.
  package init(
    kind: DeviceToken.Kind, token: String, apnsEnvironment: APNsEnvironment, bundleID: String?,
    deviceID: String?, began: Timestamp, ended: Timestamp?, reason: String?
  ) {
    self.kind = kind
    self.token = token
    self.apnsEnvironment = apnsEnvironment
    self.bundleID = bundleID
    self.deviceID = deviceID
    self.began = began
    self.ended = ended
    self.reason = reason
  }

  /// Whether pushes could be queued for the device at this time.
  public func contains(_ time: Timestamp) -> Bool {
    began <= time && !hasEnded(by: time)
  }

  /// Whether the period has ended at this time or before. The result is false for a period without
  /// an end.
  public func hasEnded(by time: Timestamp) -> Bool {
    ended.map { $0 <= time } ?? false
  }
}
