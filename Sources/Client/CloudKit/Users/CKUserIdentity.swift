internal import CloudKitModel

/// The identity of a user, as far as the app may know it. The framework makes the object, and the
/// object cannot change.
///
/// Two identities are equal if they have the same user record ID. Identities without a user record
/// ID are equal if they have the same lookup info. An identity with neither equals only itself.
open class CKUserIdentity: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
  /// The type of ``lookupInfo``: an e-mail address, a phone number or a user record ID.
  public typealias LookupInfo = CKUserIdentityLookupInfo

  /// The ID of the user's record; nil for a user without an account.
  open var userRecordID: CKRecord.ID? { storedUserRecordID }
  /// The e-mail address, phone number or user record ID by which the user was looked up. Nil if the
  /// user was found in another way.
  open var lookupInfo: CKUserIdentity.LookupInfo? { storedLookupInfo }
  /// The user's name; nil if the name is not known, for example because the user was not found.
  open var nameComponents: PersonNameComponents? { storedNameComponents }
  /// Whether the user has an account on the server.
  open var hasiCloudAccount: Bool { storedHasiCloudAccount }
  /// The user's entries in the address book; always empty, because Linux has no address book.
  @available(*, deprecated, message: "No longer supported")
  open var contactIdentifiers: [String] { [] }

  private let storedUserRecordID: CKRecord.ID?
  private let storedLookupInfo: CKUserIdentity.LookupInfo?
  private let storedNameComponents: PersonNameComponents?
  private let storedHasiCloudAccount: Bool

  init(
    userRecordID: CKRecord.ID?, lookupInfo: CKUserIdentity.LookupInfo?,
    nameComponents: PersonNameComponents?, hasiCloudAccount: Bool
  ) {
    storedUserRecordID = userRecordID
    storedLookupInfo = lookupInfo
    storedNameComponents = nameComponents
    storedHasiCloudAccount = hasiCloudAccount
  }

  /// Makes an identity from the server's answer. An answer without a record name and a lookup gives
  /// an identity of no user.
  convenience init(_ model: UserIdentity) {
    self.init(
      userRecordID: model.userRecordName.map { CKRecord.ID(RecordID(recordName: $0)) },
      lookupInfo: model.lookup.flatMap { CKUserIdentityLookupInfo($0) },
      nameComponents: model.nameComponents, hasiCloudAccount: model.userRecordName != nil)
  }

  var model: UserIdentity {
    UserIdentity(
      userRecordName: userRecordID?.recordName, nameComponents: nameComponents,
      lookup: lookupInfo?.model)
  }

  open class var supportsSecureCoding: Bool { true }

  /// Makes an identity from an archive.
  public required init?(coder: NSCoder) {
    storedUserRecordID = coder.decodeOptional(CKRecordID.self, forKey: "UserRecordID")
    storedLookupInfo = coder.decodeOptional(CKUserIdentityLookupInfo.self, forKey: "LookupInfo")
    storedNameComponents = coder.decodePersonName(forKey: "NameComponents")
    storedHasiCloudAccount = coder.decodeBool(forKey: "HasICloudAccount")
  }

  open func encode(with coder: NSCoder) {
    coder.useArchivedClassNames()
    coder.encode(userRecordID, forKey: "UserRecordID")
    coder.encode(lookupInfo, forKey: "LookupInfo")
    coder.encode(nameComponents.map { ArchivedPersonName($0) }, forKey: "NameComponents")
    coder.encode(hasiCloudAccount, forKey: "HasICloudAccount")
    coder.encode(NSArray(), forKey: "ContactIdentifiers")
  }

  /// Returns the identity itself, which cannot change.
  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// The value by which two identities are compared: the user record ID, or the lookup info if
  /// there is no ID. Nil if both are missing.
  var person: NSObject? { userRecordID ?? lookupInfo }

  /// Whether the user record IDs agree, or the lookup infos. A value that one of the two does not
  /// have agrees with nothing.
  func isSamePerson(as other: CKUserIdentity) -> Bool {
    if let userRecordID, userRecordID == other.userRecordID { return true }
    guard let lookupInfo else { return false }
    return lookupInfo == other.lookupInfo
  }

  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? CKUserIdentity else { return false }
    guard let person else { return self === other }
    return person.isEqual(other.person)
  }

  open override var hash: Int { person?.hash ?? ObjectIdentifier(self).hashValue }

  open override var description: String {
    let name = [nameComponents?.givenName, nameComponents?.familyName].compactMap { $0 }
    return "<CKUserIdentity: \(name.isEmpty ? "no name" : name.joined(separator: " ")), record "
      + "\(userRecordID?.recordName ?? "unknown"), \(lookupInfo?.description ?? "no lookup info")>"
  }
}
