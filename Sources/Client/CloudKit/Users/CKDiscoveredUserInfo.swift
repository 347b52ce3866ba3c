/// A user of the app, as the operations of 2014 found one. ``CKUserIdentity`` replaced it in iOS 10.
///
/// Apple's class has the user's entry in the address book too. Linux has no address book.
@available(*, deprecated, renamed: "CKUserIdentity")
open class CKDiscoveredUserInfo: NSObject, @unchecked Sendable {
  /// The ID of the user's record.
  public let userRecordID: CKRecord.ID?
  /// The user's given name; nil if the name is not known.
  public let firstName: String?
  /// The user's family name; nil if the name is not known.
  public let lastName: String?

  init(_ identity: CKUserIdentity) {
    userRecordID = identity.userRecordID
    firstName = identity.nameComponents?.givenName
    lastName = identity.nameComponents?.familyName
  }

  open override func isEqual(_ object: Any?) -> Bool {
    guard let other = object as? CKDiscoveredUserInfo else { return false }
    return userRecordID == other.userRecordID && firstName == other.firstName
      && lastName == other.lastName
  }

  open override var hash: Int { userRecordID.hashValue }

  open override var description: String {
    "<CKDiscoveredUserInfo: \(firstName ?? "") \(lastName ?? ""), record "
      + "\(userRecordID?.recordName ?? "unknown")>"
  }
}

/// An operation that looks up users by e-mail addresses and record IDs.
/// ``CKDiscoverUserIdentitiesOperation`` replaced it in iOS 10.
@available(*, deprecated, renamed: "CKDiscoverUserIdentitiesOperation")
open class CKDiscoverUserInfosOperation: CKOperation, @unchecked Sendable {
  /// The e-mail addresses to look up; nil means none.
  open var emailAddresses: [String]?
  /// The IDs of the users' records to look up; nil means none.
  open var userRecordIDs: [CKRecord.ID]?
  /// The block that the operation calls once, with the users who were found by e-mail addresses and
  /// by record IDs. It is no error if a user is not found.
  open var discoverUserInfosCompletionBlock:
    (([String: CKDiscoveredUserInfo]?, [CKRecord.ID: CKDiscoveredUserInfo]?, (any Error)?) -> Void)?

  private var found: [CKUserIdentity.LookupInfo: CKUserIdentity] = [:]

  /// Makes an operation that looks up these users.
  public convenience init(emailAddresses: [String]?, userRecordIDs: [CKRecord.ID]?) {
    self.init()
    self.emailAddresses = emailAddresses
    self.userRecordIDs = userRecordIDs
  }

  override func firstCall() throws(CKError) -> ServiceCall? {
    ServiceCall.discoverUsers(
      CKUserIdentity.LookupInfo.lookupInfos(withEmails: emailAddresses ?? [])
        + CKUserIdentity.LookupInfo.lookupInfos(with: userRecordIDs ?? []))
  }

  override func receive(_ answer: ServiceExchange.Answer) throws(CKError) -> ServiceCall? {
    found = try foundUsers(in: answer).byLookup
    return nil
  }

  override func conclude(_ error: CKError?) {
    if let error {
      discoverUserInfosCompletionBlock?(nil, nil, error)
    } else {
      let infos = found.mapValues { CKDiscoveredUserInfo($0) }
      discoverUserInfosCompletionBlock?(
        infos.keyed(by: \.emailAddress), infos.keyed(by: \.userRecordID), nil)
    }
  }

  override func releaseBlocks() {
    super.releaseBlocks()
    discoverUserInfosCompletionBlock = nil
  }
}

/// An operation that finds all other users of the app who permit discovery.
/// ``CKDiscoverAllUserIdentitiesOperation`` replaced it in iOS 10.
@available(*, deprecated, renamed: "CKDiscoverAllUserIdentitiesOperation")
open class CKDiscoverAllContactsOperation: CKOperation, @unchecked Sendable {
  /// The block that the operation calls once, with the users who were found.
  open var discoverAllContactsCompletionBlock: (([CKDiscoveredUserInfo]?, (any Error)?) -> Void)?

  private var found: [CKUserIdentity] = []

  override func firstCall() throws(CKError) -> ServiceCall? {
    .discoverAllUsers
  }

  override func receive(_ answer: ServiceExchange.Answer) throws(CKError) -> ServiceCall? {
    found = try foundUsers(in: answer).all
    return nil
  }

  override func conclude(_ error: CKError?) {
    discoverAllContactsCompletionBlock?(
      error == nil ? found.map { CKDiscoveredUserInfo($0) } : nil, error)
  }

  override func releaseBlocks() {
    super.releaseBlocks()
    discoverAllContactsCompletionBlock = nil
  }
}

/// The methods of 2014 that find users. Those that find a ``CKUserIdentity`` replaced them in iOS 10.
extension CKContainer {
  /// Finds all other users of the app who allow others to find them.
  ///
  /// - Parameter completionHandler: called on a background queue with the users, or with the error.
  @available(*, deprecated, renamed: "discoverAllIdentities(completionHandler:)")
  public func discoverAllContactUserInfos(
    completionHandler: @escaping ([CKDiscoveredUserInfo]?, (any Error)?) -> Void
  ) {
    discoverAllIdentities { identities, error in
      completionHandler(identities?.map { CKDiscoveredUserInfo($0) }, error)
    }
  }

  /// Finds a user of the app by an e-mail address.
  ///
  /// - Parameter completionHandler: called on a background queue with the user; with `nil` if there
  ///   is no such user, or if the user does not allow others to find them.
  @available(
    *, deprecated, renamed: "discoverUserIdentity(withEmailAddress:completionHandler:)"
  )
  public func discoverUserInfo(
    withEmailAddress email: String,
    completionHandler: @escaping (CKDiscoveredUserInfo?, (any Error)?) -> Void
  ) {
    discoverUserIdentity(withEmailAddress: email) { identity, error in
      completionHandler(identity.map { CKDiscoveredUserInfo($0) }, error)
    }
  }

  /// Finds a user of the app by the ID of the user record.
  ///
  /// - Parameter completionHandler: called on a background queue with the user; with `nil` if there
  ///   is no such user, or if the user does not allow others to find them.
  @available(
    *, deprecated, renamed: "discoverUserIdentity(withUserRecordID:completionHandler:)"
  )
  public func discoverUserInfo(
    withUserRecordID userRecordID: CKRecord.ID,
    completionHandler: @escaping (CKDiscoveredUserInfo?, (any Error)?) -> Void
  ) {
    discoverUserIdentity(withUserRecordID: userRecordID) { identity, error in
      completionHandler(identity.map { CKDiscoveredUserInfo($0) }, error)
    }
  }
}
