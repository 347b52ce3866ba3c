/// The position up to which a client has read a feed of changes.
///
/// The program cannot look inside. It keeps the token, also in an archive, and passes it to the
/// next fetch. A token that is older than the server's log fails with `changeTokenExpired`; fetch
/// again with nil then.
///
/// Tokens of a database, of a zone and of the notification log are not interchangeable. The server
/// distinguishes them and refuses a token of another feed.
open class CKServerChangeToken: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
  /// The token in the server's own form.
  package let syncToken: String

  /// Makes a token from the text that the server returned.
  package init(syncToken: String) {
    self.syncToken = syncToken
  }

  open class var supportsSecureCoding: Bool { true }

  /// Makes a token from an archive of this module or of an earlier layout. An archive of Apple's
  /// framework gives a token that no Petrel server accepts. A coder of another kind than
  /// `NSKeyedUnarchiver`, as tests make, gives an empty token.
  public required init?(coder: NSCoder) {
    if let data = coder.decodeOptional(NSData.self, forKey: "ChangeTokenData") {
      // The bytes of Apple's tokens are not text. Their form does not matter, for no Petrel server
      // knows them.
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
