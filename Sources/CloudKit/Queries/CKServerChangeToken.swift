/// How far a client has read a feed of changes. Opaque: keep it, archive it, hand it back.
///
/// Tokens of a database, of a zone and of the notification log are not interchangeable; the server
/// tells them apart.
public final class CKServerChangeToken: NSObject, NSSecureCoding, NSCopying, Sendable {
  /// The token in the server's own form.
  package let syncToken: String

  package init(syncToken: String) {
    self.syncToken = syncToken
  }

  public static var supportsSecureCoding: Bool { true }

  public init?(coder: NSCoder) {
    guard let syncToken = coder.decodeOptionalString(forKey: "syncToken") else {
      coder.failWithError(CocoaError(.coderValueNotFound))
      return nil
    }
    self.syncToken = syncToken
  }

  public func encode(with coder: NSCoder) {
    coder.encodeOptional(syncToken, forKey: "syncToken")
  }

  public func copy(with zone: NSZone? = nil) -> Any { self }

  public override func isEqual(_ object: Any?) -> Bool {
    (object as? CKServerChangeToken)?.syncToken == syncToken
  }

  public override var hash: Int { syncToken.hashValue }

  public override var description: String { "<CKServerChangeToken: \(syncToken)>" }
}
