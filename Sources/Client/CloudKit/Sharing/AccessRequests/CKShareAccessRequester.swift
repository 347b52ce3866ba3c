/// A user who has requested access to a share: `CKShare.AccessRequester`.
///
/// The framework makes it: see ``CKShare/requesters``. It cannot change. Two are equal if their
/// ``userIdentity`` is equal. Unlike Apple's class, it has no `contact`, because Linux has no
/// contacts.
open class CKShareAccessRequester: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
  /// The identity of the user.
  open var userIdentity: CKUserIdentity { storedUserIdentity }
  /// The lookup info with which ``CKFetchShareParticipantsOperation`` makes a participant of the
  /// user.
  open var participantLookupInfo: CKUserIdentity.LookupInfo { storedLookupInfo }

  private let storedUserIdentity: CKUserIdentity
  private let storedLookupInfo: CKUserIdentity.LookupInfo

  /// Makes a requester of a user. Returns nil if the identity names no user.
  init?(_ userIdentity: CKUserIdentity) {
    guard let lookupInfo = userIdentity.participantLookupInfo else { return nil }
    storedUserIdentity = userIdentity
    storedLookupInfo = lookupInfo
  }

  open class var supportsSecureCoding: Bool { true }

  /// Makes a requester from an archive. Returns nil, and makes the decoder fail, if the user is
  /// missing.
  public required init?(coder: NSCoder) {
    guard let userIdentity = coder.decodeOptional(CKUserIdentity.self, forKey: "userIdentity"),
      let lookupInfo = userIdentity.participantLookupInfo
    else {
      coder.failWithError(CocoaError(.coderValueNotFound))
      return nil
    }
    storedUserIdentity = userIdentity
    storedLookupInfo = lookupInfo
  }

  open func encode(with coder: NSCoder) {
    coder.useArchivedClassNames()
    coder.encode(userIdentity, forKey: "userIdentity")
  }

  /// Returns the requester itself, which cannot change.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? CKShareAccessRequester else { return false }
    return userIdentity.isEqual(other.userIdentity)
  }

  open override var hash: Int { userIdentity.hash }

  open override var description: String { "<CKShareAccessRequester: \(userIdentity)>" }
}

extension CKUserIdentity {
  /// The lookup info of the user, or one made of the user record ID. Nil if both are missing.
  fileprivate var participantLookupInfo: LookupInfo? {
    lookupInfo ?? userRecordID.map { LookupInfo(userRecordID: $0) }
  }
}
