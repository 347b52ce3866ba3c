#if !canImport(ObjectiveC)
/// A sort descriptor that orders records by the distance of a location field from a given location.
///
/// The nearest record comes first. The distance is along a great circle; the altitude has no
/// effect. The descriptor works in ``CKQuery/sortDescriptors`` only and cannot compare objects.
public final class CKLocationSortDescriptor: NSSortDescriptor, NSSecureCoding {
  /// The location from which distances are measured.
  public let relativeLocation: CLLocation

  let fieldName: String

  /// Makes the descriptor of a location field.
  ///
  /// - Parameters:
  ///   - key: The name of the field.
  ///   - relativeLocation: The location from which distances are measured.
  public init(key: String, relativeLocation: CLLocation) {
    fieldName = key
    self.relativeLocation = relativeLocation
    // This key path is never used to compare. Foundation's initializer requires one.
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

  /// Returns this object, because a descriptor is immutable.
  public override func copy(with zone: NSZone? = nil) -> Any { self }

  public override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? CKLocationSortDescriptor else { return false }
    return fieldName == other.fieldName && relativeLocation == other.relativeLocation
  }

  public override var hash: Int { fieldName.hashValue }

  public override var description: String { "(\(fieldName), nearest to \(relativeLocation))" }
}
#endif
