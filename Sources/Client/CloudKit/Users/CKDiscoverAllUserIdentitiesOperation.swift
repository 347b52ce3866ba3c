/// An operation that finds all other users of the app who permit discovery: they allow others to
/// find them.
///
/// On Apple's systems, the operation finds only users in the address book. Here it finds users of
/// the server, at most 1,000. The current user is not among them.
@available(*, deprecated, message: "Use CKFetchShareParticipantsOperation for sharing")
open class CKDiscoverAllUserIdentitiesOperation: CKOperation, @unchecked Sendable {
  /// The block that the operation calls for each user, before
  /// ``discoverAllUserIdentitiesResultBlock``.
  open var userIdentityDiscoveredBlock: ((CKUserIdentity) -> Void)?
  /// The block that the operation calls once, after the users. The result is a failure only if the
  /// request failed.
  open var discoverAllUserIdentitiesResultBlock: ((Result<Void, any Error>) -> Void)?
  /// The block that the operation calls once, after ``discoverAllUserIdentitiesResultBlock``.
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
