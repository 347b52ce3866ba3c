#if canImport(ObjectiveC)
extension NSSortDescriptor {
  /// The key that a server can sort by; nil when the descriptor was made without one.
  var searchableKey: String? { key }
}

/// The order of a location field's distance from a place, nearest first. Altitude does not count.
open class CKLocationSortDescriptor: NSSortDescriptor, @unchecked Sendable {
  public let relativeLocation: CLLocation

  var fieldName: String { key ?? "" }

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
