extension APNsFault {
  /// A fault and the device to which it applies.
  public struct Targeted: Sendable, Hashable {
    /// The device's token; nil for any device.
    public var deviceToken: String?
    /// The fault.
    public var fault: APNsFault

    /// Creates a fault for a device, by default for any device.
    public init(_ fault: APNsFault, for deviceToken: String? = nil) {
      self.fault = fault
      self.deviceToken = deviceToken
    }
  }
}
