/// How far a client has read a feed of changes. Opaque: keep it, archive it, hand it back.
///
/// Tokens of a database, of a zone and of the notification log are not interchangeable; the server
/// tells them apart.
open class CKServerChangeToken: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
  /// The token in the server's own form.
  package let syncToken: String

  package init(syncToken: String) {
    self.syncToken = syncToken
  }

  open class var supportsSecureCoding: Bool { true }

  public required init?(coder: NSCoder) {
    guard let syncToken = coder.decodeOptionalString(forKey: "syncToken") else {
      coder.failWithError(CocoaError(.coderValueNotFound))
      return nil
    }
    self.syncToken = syncToken
  }

  open func encode(with coder: NSCoder) {
    coder.encodeOptional(syncToken, forKey: "syncToken")
  }

  open func copy(with zone: NSZone? = nil) -> Any { self }

  open override func isEqual(_ object: Any?) -> Bool {
    (object as? CKServerChangeToken)?.syncToken == syncToken
  }

  open override var hash: Int { syncToken.hashValue }

  open override var description: String { "<CKServerChangeToken: \(syncToken)>" }
}
