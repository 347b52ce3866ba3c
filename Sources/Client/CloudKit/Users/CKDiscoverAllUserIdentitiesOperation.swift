/// Looks for all users of the app who let themselves be found. On Apple's platforms these are those
/// in the address book; here all users of the server count as each other's contacts.
@available(*, deprecated, message: "Use CKFetchShareParticipantsOperation for sharing")
open class CKDiscoverAllUserIdentitiesOperation: CKOperation, @unchecked Sendable {
  /// Called for each user.
  open var userIdentityDiscoveredBlock: ((CKUserIdentity) -> Void)?
  open var discoverAllUserIdentitiesResultBlock: ((Result<Void, any Error>) -> Void)?
  @available(*, deprecated, renamed: "discoverAllUserIdentitiesResultBlock")
  open var discoverAllUserIdentitiesCompletionBlock: (((any Error)?) -> Void)? {
    get { completion }
    set { completion = newValue }
  }

  private var completion: (((any Error)?) -> Void)?

  override func firstCall() throws(CKError) -> ServiceCall? {
    .discoverAllUsers
  }

  override func receive(_ answer: ServiceExchange.Answer) throws(CKError) -> ServiceCall? {
    for identity in try foundUsers(in: answer).all { userIdentityDiscoveredBlock?(identity) }
    return nil
  }

  override func conclude(_ error: CKError?) {
    discoverAllUserIdentitiesResultBlock?(error.map { .failure($0) } ?? .success(()))
    completion?(error)
  }

  override func releaseBlocks() {
    super.releaseBlocks()
    userIdentityDiscoveredBlock = nil
    discoverAllUserIdentitiesResultBlock = nil
    completion = nil
  }
}
