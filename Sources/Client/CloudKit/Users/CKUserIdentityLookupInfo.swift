internal import CloudKitModel

/// What a user is looked up by: `CKUserIdentity.LookupInfo`. Immutable.
open class CKUserIdentityLookupInfo: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
  open var emailAddress: String? { storedEmailAddress }
  open var phoneNumber: String? { storedPhoneNumber }
  open var userRecordID: CKRecord.ID? { storedUserRecordID }

  private let storedEmailAddress: String?
  private let storedPhoneNumber: String?
  private let storedUserRecordID: CKRecord.ID?

  /// Looks for a user with this e-mail address. Letter case does not matter.
  public init(emailAddress: String) {
    storedEmailAddress = emailAddress
    storedPhoneNumber = nil
    storedUserRecordID = nil
  }

  /// Looks for a user with this phone number. Spaces and punctuation do not matter.
  public init(phoneNumber: String) {
    storedEmailAddress = nil
    storedPhoneNumber = phoneNumber
    storedUserRecordID = nil
  }

  /// Looks for the user whose record this is.
  public init(userRecordID: CKRecord.ID) {
    storedEmailAddress = nil
    storedPhoneNumber = nil
    storedUserRecordID = userRecordID
  }

  /// One for each e-mail address, in order.
  open class func lookupInfos(withEmails emails: [String]) -> [CKUserIdentity.LookupInfo] {
    emails.map { CKUserIdentityLookupInfo(emailAddress: $0) }
  }

  /// One for each phone number, in order.
  open class func lookupInfos(
    withPhoneNumbers phoneNumbers: [String]
  ) -> [CKUserIdentity.LookupInfo] {
    phoneNumbers.map { CKUserIdentityLookupInfo(phoneNumber: $0) }
  }

  /// One for each user record ID, in order.
  open class func lookupInfos(with recordIDs: [CKRecord.ID]) -> [CKUserIdentity.LookupInfo] {
    recordIDs.map { CKUserIdentityLookupInfo(userRecordID: $0) }
  }

  /// What the server was asked for; nil when it is nothing.
  init?(_ model: UserLookup) {
    guard model != UserLookup() else { return nil }
    storedEmailAddress = model.emailAddress
    storedPhoneNumber = model.phoneNumber
    storedUserRecordID = model.userRecordName.map { CKRecord.ID(RecordID(recordName: $0)) }
  }

  var model: UserLookup {
    UserLookup(
      emailAddress: emailAddress, phoneNumber: phoneNumber,
      userRecordName: userRecordID?.recordName)
  }

  open class var supportsSecureCoding: Bool { true }

  public required init?(coder: NSCoder) {
    let emailAddress = coder.decodeOptionalString(forKey: "emailAddress")
    let phoneNumber = coder.decodeOptionalString(forKey: "phoneNumber")
    let userRecordID = coder.decodeOptional(CKRecordID.self, forKey: "userRecordID")
    guard emailAddress != nil || phoneNumber != nil || userRecordID != nil else {
      coder.failWithError(CocoaError(.coderValueNotFound))
      return nil
    }
    storedEmailAddress = emailAddress
    storedPhoneNumber = phoneNumber
    storedUserRecordID = userRecordID
  }

  open func encode(with coder: NSCoder) {
    coder.useArchivedClassNames()
    coder.encodeOptional(emailAddress, forKey: "emailAddress")
    coder.encodeOptional(phoneNumber, forKey: "phoneNumber")
    coder.encode(userRecordID, forKey: "userRecordID")
  }

  open func copy(with zone: NSZone? = nil) -> Any { self }

  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? CKUserIdentityLookupInfo else { return false }
    return model == other.model
  }

  open override var hash: Int { model.hashValue }

  open override var description: String {
    "<CKUserIdentityLookupInfo: "
      + (emailAddress ?? phoneNumber ?? userRecordID?.recordName ?? "empty") + ">"
  }
}

extension Dictionary where Key == CKUserIdentity.LookupInfo {
  /// The values by the one part of the lookup info that was asked by.
  func keyed<Part: Hashable>(by part: KeyPath<CKUserIdentity.LookupInfo, Part?>) -> [Part: Value] {
    var values: [Part: Value] = [:]
    for (lookupInfo, value) in self {
      if let key = lookupInfo[keyPath: part] { values[key] = value }
    }
    return values
  }
}
