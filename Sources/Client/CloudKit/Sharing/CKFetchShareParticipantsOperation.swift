/// An operation that looks up users and makes participants of them, to be added to a share.
///
/// A user who is looked up by e-mail address or phone number and is not found becomes a participant
/// without an account: `hasiCloudAccount` is false. The program can invite that participant all the
/// same. A user record ID that is not found fails with `unknownItem`.
open class CKFetchShareParticipantsOperation: CKOperation, @unchecked Sendable {
  /// The users to look up. With nil or an empty list, the operation succeeds without a request.
  open var userIdentityLookupInfos: [CKUserIdentity.LookupInfo]?

  /// The block that the operation calls with the result of each lookup, before
  /// ``fetchShareParticipantsResultBlock``.
  open var perShareParticipantResultBlock:
    ((CKUserIdentity.LookupInfo, Result<CKShare.Participant, any Error>) -> Void)?
  /// The block that the operation calls once, after the blocks of the lookups. The result is a
  /// failure only if the whole request failed.
  open var fetchShareParticipantsResultBlock: ((Result<Void, any Error>) -> Void)?
  /// The block that the operation calls for each participant, after
  /// ``perShareParticipantResultBlock``. Lookups that failed are left out.
  @available(*, deprecated, renamed: "perShareParticipantResultBlock")
  open var shareParticipantFetchedBlock: ((CKShare.Participant) -> Void)? {
    get { itemCompletion }
    set { itemCompletion = newValue }
  }
  /// The block that the operation calls once, after ``fetchShareParticipantsResultBlock``. The
  /// error is `partialFailure` if some lookups failed.
  @available(*, deprecated, renamed: "fetchShareParticipantsResultBlock")
  open var fetchShareParticipantsCompletionBlock: (((any Error)?) -> Void)? {
    get { completion }
    set { completion = newValue }
  }

  /// The stored value of the deprecated ``shareParticipantFetchedBlock``.
  private var itemCompletion: ((CKShare.Participant) -> Void)?
  /// The stored value of the deprecated ``fetchShareParticipantsCompletionBlock``.
  private var completion: (((any Error)?) -> Void)?
  /// The lookups of the request.
  private var sent: [CKUserIdentity.LookupInfo] = []
  private var itemErrors = ItemErrors()

  /// Makes an operation that looks up these users.
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

  /// Calls the blocks for a participant.
  private func finish(
    _ lookupInfo: CKUserIdentity.LookupInfo, _ participant: CKShare.Participant
  ) {
    perShareParticipantResultBlock?(lookupInfo, .success(participant))
    itemCompletion?(participant)
  }
}
