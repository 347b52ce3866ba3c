extension APNsFault {
  /// A fault and whom it hits.
  public struct Targeted: Sendable, Hashable {
    /// Nil for any device.
    public var deviceToken: String?
    public var fault: APNsFault

    public init(_ fault: APNsFault, for deviceToken: String? = nil) {
      self.fault = fault
      self.deviceToken = deviceToken
    }
  }
}
