/// Names a notification: `CKNotification.ID`. Opaque; equal for the push and for the entry in the
/// notification log.
open class CKNotificationID: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
  /// The `nid` of the payload.
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

  open func copy(with zone: NSZone? = nil) -> Any { self }

  open override func isEqual(_ object: Any?) -> Bool {
    (object as? CKNotificationID)?.identifier == identifier
  }

  open override var hash: Int { identifier.hashValue }

  open override var description: String { "<CKNotificationID: \(identifier)>" }
}
