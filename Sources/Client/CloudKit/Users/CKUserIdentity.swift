internal import CloudKitModel

/// Who a user is, as far as the app may know. Immutable; the framework makes it.
///
/// Two identities are equal when they are of one person: the same user record ID, or without one the
/// same lookup info.
open class CKUserIdentity: NSObject, NSSecureCoding, NSCopying, @unchecked Sendable {
  public typealias LookupInfo = CKUserIdentityLookupInfo

  /// The ID of the user's record; nil for someone without an account.
  open var userRecordID: CKRecord.ID? { storedUserRecordID }
  /// How the user was looked up; nil when the user was found otherwise.
  open var lookupInfo: CKUserIdentity.LookupInfo? { storedLookupInfo }
  /// The user's name; nil when the user does not want to be discovered.
  open var nameComponents: PersonNameComponents? { storedNameComponents }
  /// Whether the server knows the user.
  open var hasiCloudAccount: Bool { storedHasiCloudAccount }
  /// The user's entries in the address book, which this platform does not have.
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

  /// An identity that the server named, or nobody's.
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

  public required init?(coder: NSCoder) {
    storedUserRecordID = coder.decodeOptional(CKRecordID.self, forKey: "userRecordID")
    storedLookupInfo = coder.decodeOptional(CKUserIdentityLookupInfo.self, forKey: "lookupInfo")
    storedNameComponents = PersonNameComponents(coder: coder)
    storedHasiCloudAccount = coder.decodeBool(forKey: "hasiCloudAccount")
  }

  open func encode(with coder: NSCoder) {
    coder.useArchivedClassNames()
    coder.encode(userRecordID, forKey: "userRecordID")
    coder.encode(lookupInfo, forKey: "lookupInfo")
    nameComponents?.encode(with: coder)
    coder.encode(hasiCloudAccount, forKey: "hasiCloudAccount")
  }

  open func copy(with zone: NSZone? = nil) -> Any { self }

  /// What two identities of one person have in common; nil when nothing is known of the person.
  var person: NSObject? { userRecordID ?? lookupInfo }

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

extension PersonNameComponents {
  private static let parts: [(String, WritableKeyPath<PersonNameComponents, String?> & Sendable)] =
    [
      ("namePrefix", \.namePrefix), ("givenName", \.givenName), ("middleName", \.middleName),
      ("familyName", \.familyName), ("nameSuffix", \.nameSuffix), ("nickname", \.nickname),
    ]

  /// The name that was encoded; nil when there is none.
  fileprivate init?(coder: NSCoder) {
    guard coder.decodeBool(forKey: "hasNameComponents") else { return nil }
    self.init()
    for (key, part) in Self.parts { self[keyPath: part] = coder.decodeOptionalString(forKey: key) }
  }

  fileprivate func encode(with coder: NSCoder) {
    coder.encode(true, forKey: "hasNameComponents")
    for (key, part) in Self.parts { coder.encodeOptional(self[keyPath: part], forKey: key) }
  }
}
