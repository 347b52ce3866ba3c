/// Names a notification: `CKNotification.ID`. Opaque; equal for the push and for the entry in the
/// notification log.
public final class CKNotificationID: NSObject, NSSecureCoding, NSCopying, Sendable {
  /// The `nid` of the payload.
  package let identifier: String

  package init(_ identifier: String) {
    self.identifier = identifier
  }

  public static var supportsSecureCoding: Bool { true }

  public init?(coder: NSCoder) {
    guard let identifier = coder.decodeOptionalString(forKey: "identifier") else {
      coder.failWithError(CocoaError(.coderValueNotFound))
      return nil
    }
    self.identifier = identifier
  }

  public func encode(with coder: NSCoder) {
    coder.encodeOptional(identifier, forKey: "identifier")
  }

  public func copy(with zone: NSZone? = nil) -> Any { self }

  public override func isEqual(_ object: Any?) -> Bool {
    (object as? CKNotificationID)?.identifier == identifier
  }

  public override var hash: Int { identifier.hashValue }

  public override var description: String { "<CKNotificationID: \(identifier)>" }
}
