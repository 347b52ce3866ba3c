#if canImport(ObjectiveC)
extension NSSortDescriptor {
  /// The name of the field to sort by; `nil` when the descriptor was made without a key.
  var searchableKey: String? { key }
}

/// A sort descriptor that orders records by the distance of a location field from a place, nearest
/// first.
///
/// The distance is the great-circle distance in metres; the altitude has no effect. The order is
/// always ascending.
open class CKLocationSortDescriptor: NSSortDescriptor, @unchecked Sendable {
  /// The place from which distances are measured.
  public let relativeLocation: CLLocation

  var fieldName: String { key ?? "" }

  /// Creates a descriptor for a field of type `CLLocation`.
  public init(key: String, relativeLocation: CLLocation) {
    self.relativeLocation = relativeLocation
    super.init(key: key, ascending: true, selector: nil)
  }

  public required init?(coder: NSCoder) {
    guard let place = coder.decodeObject(of: CLLocation.self, forKey: "relativeLocation") else {
      coder.failWithError(CocoaError(.coderValueNotFound))
      return nil
    }
    relativeLocation = place
    super.init(coder: coder)
  }

  open override class var supportsSecureCoding: Bool { true }

  open override func encode(with coder: NSCoder) {
    super.encode(with: coder)
    coder.encode(relativeLocation, forKey: "relativeLocation")
  }
}
#endif
