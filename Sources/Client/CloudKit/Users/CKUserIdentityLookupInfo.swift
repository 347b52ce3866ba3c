internal import CloudKitModel

/// The key by which a user is looked up: an e-mail address, a phone number or a user record ID.
/// Apps use the name `CKUserIdentity.LookupInfo`.
///
/// In an object that the program makes, exactly one of the three properties has a value. A lookup
/// info cannot change.
open class CKUserIdentityLookupInfo: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
  /// The e-mail address; nil if the key is another one.
  open var emailAddress: String? { storedEmailAddress }
  /// The phone number; nil if the key is another one.
  open var phoneNumber: String? { storedPhoneNumber }
  /// The ID of the user's record; nil if the key is another one.
  open var userRecordID: CKRecord.ID? { storedUserRecordID }

  private let storedEmailAddress: String?
  private let storedPhoneNumber: String?
  private let storedUserRecordID: CKRecord.ID?

  /// Makes a key from an e-mail address. The server ignores upper and lower case.
  public init(emailAddress: String) {
    storedEmailAddress = emailAddress
    storedPhoneNumber = nil
    storedUserRecordID = nil
  }

  /// Makes a key from a phone number. The server ignores spaces and punctuation.
  public init(phoneNumber: String) {
    storedEmailAddress = nil
    storedPhoneNumber = phoneNumber
    storedUserRecordID = nil
  }

  /// Makes a key from the ID of a user's record.
  public init(userRecordID: CKRecord.ID) {
    storedEmailAddress = nil
    storedPhoneNumber = nil
    storedUserRecordID = userRecordID
  }

  /// Returns a key for each e-mail address, in the same order.
  open class func lookupInfos(withEmails emails: [String]) -> [CKUserIdentity.LookupInfo] {
    emails.map { CKUserIdentityLookupInfo(emailAddress: $0) }
  }

  /// Returns a key for each phone number, in the same order.
  open class func lookupInfos(
    withPhoneNumbers phoneNumbers: [String]
  ) -> [CKUserIdentity.LookupInfo] {
    phoneNumbers.map { CKUserIdentityLookupInfo(phoneNumber: $0) }
  }

  /// Returns a key for each user record ID, in the same order.
  open class func lookupInfos(with recordIDs: [CKRecord.ID]) -> [CKUserIdentity.LookupInfo] {
    recordIDs.map { CKUserIdentityLookupInfo(userRecordID: $0) }
  }

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

  /// Makes a key from an archive. In one of Apple's, all parts can be missing.
  public required init?(coder: NSCoder) {
    storedEmailAddress = coder.decodeOptionalString(forKey: "EmailAddress")
    storedPhoneNumber = coder.decodeOptionalString(forKey: "PhoneNumber")
    storedUserRecordID = coder.decodeOptional(CKRecordID.self, forKey: "RecordID")
  }

  open func encode(with coder: NSCoder) {
    coder.useArchivedClassNames()
    coder.encodeOptional(emailAddress, forKey: "EmailAddress")
    coder.encodeOptional(phoneNumber, forKey: "PhoneNumber")
    coder.encode(userRecordID, forKey: "RecordID")
  }

  /// Returns the key itself, which cannot change.
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
  /// Lookup infos without that part are left out.
  func keyed<Part: Hashable>(by part: KeyPath<CKUserIdentity.LookupInfo, Part?>) -> [Part: Value] {
    var values: [Part: Value] = [:]
    for (lookupInfo, value) in self {
      if let key = lookupInfo[keyPath: part] { values[key] = value }
    }
    return values
  }
}
