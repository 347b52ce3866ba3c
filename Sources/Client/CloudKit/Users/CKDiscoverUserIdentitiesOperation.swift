/// An operation that looks up users who permit discovery: they allow others to find them.
///
/// It is no error if a user is not found. The operation then calls no block for that user.
@available(*, deprecated, message: "Use CKFetchShareParticipantsOperation for sharing")
open class CKDiscoverUserIdentitiesOperation: CKOperation, @unchecked Sendable {
  /// The users to look up. With an empty list, the operation succeeds without a request.
  open var userIdentityLookupInfos: [CKUserIdentity.LookupInfo] = []

  /// The block that the operation calls for each user who was found, in the order of
  /// ``userIdentityLookupInfos``.
  open var userIdentityDiscoveredBlock: ((CKUserIdentity, CKUserIdentity.LookupInfo) -> Void)?
  /// The block that the operation calls once, after the users. The result is a failure if
  /// the operation as a whole failed or was cancelled.
  open var discoverUserIdentitiesResultBlock: ((Result<Void, any Error>) -> Void)?
  /// The block that the operation calls once, after ``discoverUserIdentitiesResultBlock``.
  @available(*, deprecated, renamed: "discoverUserIdentitiesResultBlock")
  open var discoverUserIdentitiesCompletionBlock: (((any Error)?) -> Void)? {
    get { completion }
    set { completion = newValue }
  }

  private var completion: (((any Error)?) -> Void)?

  /// Makes an operation that looks up these users.
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
