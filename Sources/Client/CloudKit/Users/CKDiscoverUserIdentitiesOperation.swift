/// Looks for users who let themselves be found. Those who cannot be found are no error: no block is
/// called for them.
@available(*, deprecated, message: "Use CKFetchShareParticipantsOperation for sharing")
open class CKDiscoverUserIdentitiesOperation: CKOperation, @unchecked Sendable {
  open var userIdentityLookupInfos: [CKUserIdentity.LookupInfo] = []

  /// Called for each user who was found.
  open var userIdentityDiscoveredBlock: ((CKUserIdentity, CKUserIdentity.LookupInfo) -> Void)?
  open var discoverUserIdentitiesResultBlock: ((Result<Void, any Error>) -> Void)?
  @available(*, deprecated, renamed: "discoverUserIdentitiesResultBlock")
  open var discoverUserIdentitiesCompletionBlock: (((any Error)?) -> Void)? {
    get { completion }
    set { completion = newValue }
  }

  private var completion: (((any Error)?) -> Void)?

  public convenience init(userIdentityLookupInfos: [CKUserIdentity.LookupInfo]) {
    self.init()
    self.userIdentityLookupInfos = userIdentityLookupInfos
  }

  override func firstCall() throws(CKError) -> ServiceCall? {
    ServiceCall.discoverUsers(userIdentityLookupInfos)
  }

  override func receive(_ answer: ServiceExchange.Answer) throws(CKError) -> ServiceCall? {
    let identities = try foundUsers(in: answer).byLookup
    for lookupInfo in userIdentityLookupInfos {
      if let identity = identities[lookupInfo] {
        userIdentityDiscoveredBlock?(identity, lookupInfo)
      }
    }
    return nil
  }

  override func conclude(_ error: CKError?) {
    discoverUserIdentitiesResultBlock?(error.map { .failure($0) } ?? .success(()))
    completion?(error)
  }

  override func releaseBlocks() {
    super.releaseBlocks()
    userIdentityDiscoveredBlock = nil
    discoverUserIdentitiesResultBlock = nil
    completion = nil
  }
}
