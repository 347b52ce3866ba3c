/// The ID of a notification. A push and the entry for it in the notification log have equal IDs.
/// Apps write `CKNotification.ID`.
///
/// The ID is opaque: an app can compare, archive and hash it. The class has a top-level name
/// because Foundation on Linux cannot archive nested classes.
open class CKNotificationID: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
  package let identifier: String

  package init(_ identifier: String) {
    self.identifier = identifier
  }

  open class var supportsSecureCoding: Bool { true }

  public required init?(coder: NSCoder) {
    guard let identifier = coder.decodeOptionalString(forKey: "identifier") else {
      coder.failWithError(CocoaError(.coderValueNotFound))
      return nil
    }
    self.identifier = identifier
  }

  open func encode(with coder: NSCoder) {
    coder.useArchivedClassNames()
    coder.encodeOptional(identifier, forKey: "identifier")
  }

  /// Returns this object, because it is immutable.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  open override func isEqual(_ object: Any?) -> Bool {
    (object as? CKNotificationID)?.identifier == identifier
  }

  open override var hash: Int { identifier.hashValue }

  open override var description: String { "<CKNotificationID: \(identifier)>" }
}
