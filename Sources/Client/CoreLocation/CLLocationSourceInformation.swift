/// The source of a location.
public final class CLLocationSourceInformation: NSObject, NSSecureCoding, NSCopying, Sendable {
  /// Whether software simulated the location.
  public let isSimulatedBySoftware: Bool
  /// Whether an external accessory supplied the location.
  public let isProducedByAccessory: Bool

  /// Makes a source.
  ///
  /// - Parameters:
  ///   - isSoftware: Whether software simulated the location.
  ///   - isAccessory: Whether an external accessory supplied the location.
  public init(
    softwareSimulationState isSoftware: Bool, andExternalAccessoryState isAccessory: Bool
  ) {
    isSimulatedBySoftware = isSoftware
    isProducedByAccessory = isAccessory
  }

  public static var supportsSecureCoding: Bool { true }

  public required init?(coder: NSCoder) {
    isSimulatedBySoftware = coder.decodeBool(forKey: "simulated")
    isProducedByAccessory = coder.decodeBool(forKey: "accessory")
  }

  public func encode(with coder: NSCoder) {
    coder.encode(isSimulatedBySoftware, forKey: "simulated")
    coder.encode(isProducedByAccessory, forKey: "accessory")
  }

  /// Returns the source itself, which cannot change.
  public func copy(with zone: NSZone? = nil) -> Any { self }
}
