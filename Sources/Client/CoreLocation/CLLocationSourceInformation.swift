/// How a location came about.
public final class CLLocationSourceInformation: NSObject, NSSecureCoding, NSCopying, Sendable {
  /// Whether software made the location up.
  public let isSimulatedBySoftware: Bool
  /// Whether an accessory supplied the location.
  public let isProducedByAccessory: Bool

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

  public func copy(with zone: NSZone? = nil) -> Any { self }
}
