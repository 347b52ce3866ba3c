/// The position up to which a client has read a feed of changes.
///
/// The program cannot read the contents. The program keeps the token, also in an archive, and
/// passes it to the next fetch. If the server no longer keeps deletions that are newer than the
/// token, the fetch fails with `changeTokenExpired`. Then fetch again with nil.
///
/// A token is valid only for the feed from which it came: the feed of a database, the feed of a
/// zone, or the notification log. The server refuses the token of another feed.
open class CKServerChangeToken: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
  package let syncToken: String

  package init(syncToken: String) {
    self.syncToken = syncToken
  }

  open class var supportsSecureCoding: Bool { true }

  /// Makes a token from an archive that any version of this module wrote. From an archive of
  /// Apple's framework, the token is one that no Petrel server accepts. Tests decode with coders
  /// other than `NSKeyedUnarchiver`; the token is then empty.
  public required init?(coder: NSCoder) {
    if let data = coder.decodeOptional(NSData.self, forKey: "ChangeTokenData") {
      // The bytes of Apple's tokens are not text. No Petrel server knows these tokens, so their
      // form does not matter.
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

  /// Returns the token itself, which cannot change.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  open override func isEqual(_ object: Any?) -> Bool {
    (object as? CKServerChangeToken)?.syncToken == syncToken
  }

  open override var hash: Int { syncToken.hashValue }

  open override var description: String { "<CKServerChangeToken: \(syncToken)>" }
}
