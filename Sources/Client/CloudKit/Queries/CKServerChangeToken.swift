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
    if let data = coder.decodeOptional(NSData.self, forKey: "ChangeTokenData") {
      // The bytes of a token of Apple's are no text. No server of ours knows it, whatever its form.
      let bytes = data as Data
      syncToken = String(data: bytes, encoding: .utf8) ?? bytes.base64EncodedString()
    } else if let former = coder.decodeOptionalString(forKey: "syncToken") {
      syncToken = former
    } else if coder is NSKeyedUnarchiver {
      coder.failWithError(CocoaError(.coderValueNotFound))
      return nil
    } else {
      syncToken = ""
    }
  }

  open func encode(with coder: NSCoder) {
    coder.useArchivedClassNames()
    coder.encode(Data(syncToken.utf8) as NSData, forKey: "ChangeTokenData")
  }

  open func copy(with zone: NSZone? = nil) -> Any { self }

  open override func isEqual(_ object: Any?) -> Bool {
    (object as? CKServerChangeToken)?.syncToken == syncToken
  }

  open override var hash: Int { syncToken.hashValue }

  open override var description: String { "<CKServerChangeToken: \(syncToken)>" }
}
