#if !canImport(ObjectiveC)
/// The order of a location field's distance from a place, nearest first. Altitude does not count.
public final class CKLocationSortDescriptor: NSSortDescriptor, NSSecureCoding {
  public let relativeLocation: CLLocation

  let fieldName: String

  public init(key: String, relativeLocation: CLLocation) {
    fieldName = key
    self.relativeLocation = relativeLocation
    // Never used to compare: Foundation wants some key path.
    super.init(keyPath: \String.count, ascending: true)
  }

  public static var supportsSecureCoding: Bool { true }

  public init?(coder: NSCoder) {
    guard let key = coder.decodeOptionalString(forKey: "key"),
      let place = coder.decodeOptional(CLLocation.self, forKey: "relativeLocation")
    else {
      coder.failWithError(CocoaError(.coderValueNotFound))
      return nil
    }
    fieldName = key
    relativeLocation = place
    super.init(keyPath: \String.count, ascending: true)
  }

  public func encode(with coder: NSCoder) {
    coder.useArchivedClassNames()
    coder.encodeOptional(fieldName, forKey: "key")
    coder.encode(relativeLocation, forKey: "relativeLocation")
  }

  public override func copy(with zone: NSZone? = nil) -> Any { self }

  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? CKLocationSortDescriptor else { return false }
    return fieldName == other.fieldName && relativeLocation == other.relativeLocation
  }

  public override var hash: Int { fieldName.hashValue }

  public override var description: String { "(\(fieldName), nearest to \(relativeLocation))" }
}
#endif
