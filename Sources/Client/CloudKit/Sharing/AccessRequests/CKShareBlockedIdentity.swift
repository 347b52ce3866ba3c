/// A user whose requests for access to a share the server ignores: `CKShare.BlockedIdentity`.
///
/// The framework makes it: see ``CKShare/blockedIdentities``. It cannot change. Two are equal if
/// their ``userIdentity`` is equal. Unlike Apple's class, it has no `contact`, because Linux has no
/// contacts.
open class CKShareBlockedIdentity: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
  /// The identity of the user.
  open var userIdentity: CKUserIdentity { storedUserIdentity }

  private let storedUserIdentity: CKUserIdentity

  init(userIdentity: CKUserIdentity) {
    storedUserIdentity = userIdentity
  }

  open class var supportsSecureCoding: Bool { true }

  /// Makes a blocked identity from an archive. Returns nil, and makes the decoder fail, if the user
  /// is missing.
  public required init?(coder: NSCoder) {
    guard let userIdentity = coder.decodeOptional(CKUserIdentity.self, forKey: "userIdentity")
    else {
      coder.failWithError(CocoaError(.coderValueNotFound))
      return nil
    }
    storedUserIdentity = userIdentity
  }

  open func encode(with coder: NSCoder) {
    coder.useArchivedClassNames()
    coder.encode(userIdentity, forKey: "userIdentity")
  }

  /// Returns the blocked identity itself, which cannot change.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? CKShareBlockedIdentity else { return false }
    return userIdentity.isEqual(other.userIdentity)
  }

  open override var hash: Int { userIdentity.hash }

  open override var description: String { "<CKShareBlockedIdentity: \(userIdentity)>" }
}
