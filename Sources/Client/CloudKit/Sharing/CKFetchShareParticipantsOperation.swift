/// Makes participants of users, for adding them to a share.
///
/// Someone who is looked up by e-mail address or phone number and cannot be found becomes a
/// participant without an account (`hasiCloudAccount` is false), who can be invited all the same.
/// A user record ID that cannot be found fails with `unknownItem`.
open class CKFetchShareParticipantsOperation: CKOperation, @unchecked Sendable {
  open var userIdentityLookupInfos: [CKUserIdentity.LookupInfo]?

  open var perShareParticipantResultBlock:
    ((CKUserIdentity.LookupInfo, Result<CKShare.Participant, any Error>) -> Void)?
  open var fetchShareParticipantsResultBlock: ((Result<Void, any Error>) -> Void)?
  @available(*, deprecated, renamed: "perShareParticipantResultBlock")
  open var shareParticipantFetchedBlock: ((CKShare.Participant) -> Void)? {
    get { itemCompletion }
    set { itemCompletion = newValue }
  }
  @available(*, deprecated, renamed: "fetchShareParticipantsResultBlock")
  open var fetchShareParticipantsCompletionBlock: (((any Error)?) -> Void)? {
    get { completion }
    set { completion = newValue }
  }

  private var itemCompletion: ((CKShare.Participant) -> Void)?
  private var completion: (((any Error)?) -> Void)?
  private var sent: [CKUserIdentity.LookupInfo] = []
  private var itemErrors = ItemErrors()

  public convenience init(userIdentityLookupInfos: [CKUserIdentity.LookupInfo]) {
    self.init()
    self.userIdentityLookupInfos = userIdentityLookupInfos
  }

  override func firstCall() throws(CKError) -> ServiceCall? {
    sent = userIdentityLookupInfos ?? []
    return ServiceCall.discoverUsers(sent)
  }

  override func receive(_ answer: ServiceExchange.Answer) throws(CKError) -> ServiceCall? {
    let identities = try foundUsers(in: answer).byLookup
    for lookupInfo in sent {
      if let identity = identities[lookupInfo] {
        finish(lookupInfo, CKShareParticipant(userIdentity: identity))
      } else if let userRecordID = lookupInfo.userRecordID {
        let error = CKError(.unknownItem, "user '\(userRecordID.recordName)' cannot be found")
        itemErrors.add(error, for: lookupInfo)
        perShareParticipantResultBlock?(lookupInfo, .failure(error))
      } else {
        let identity = CKUserIdentity(
          userRecordID: nil, lookupInfo: lookupInfo, nameComponents: nil, hasiCloudAccount: false)
        finish(lookupInfo, CKShareParticipant(userIdentity: identity))
      }
    }
    return nil
  }

  override func conclude(_ error: CKError?) {
    fetchShareParticipantsResultBlock?(error.map { .failure($0) } ?? .success(()))
    completion?(error ?? itemErrors.partialFailure)
  }

  override func releaseBlocks() {
    super.releaseBlocks()
    perShareParticipantResultBlock = nil
    fetchShareParticipantsResultBlock = nil
    itemCompletion = nil
    completion = nil
  }

  private func finish(
    _ lookupInfo: CKUserIdentity.LookupInfo, _ participant: CKShare.Participant
  ) {
    perShareParticipantResultBlock?(lookupInfo, .success(participant))
    itemCompletion?(participant)
  }
}
