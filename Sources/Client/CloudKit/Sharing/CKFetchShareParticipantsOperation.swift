/// An operation that looks up users and makes participants of them, to be added to a share.
///
/// A user who does not permit discovery, or does not exist, becomes a participant without a name.
/// The program can invite that participant all the same. If the lookup is by e-mail address or phone
/// number, `hasiCloudAccount` is false. If it is by user record ID, the participant has this ID.
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
  /// ``perShareParticipantResultBlock``.
  @available(*, deprecated, renamed: "perShareParticipantResultBlock")
  open var shareParticipantFetchedBlock: ((CKShare.Participant) -> Void)? {
    get { itemCompletion }
    set { itemCompletion = newValue }
  }
  /// The block that the operation calls once, after ``fetchShareParticipantsResultBlock``.
  @available(*, deprecated, renamed: "fetchShareParticipantsResultBlock")
  open var fetchShareParticipantsCompletionBlock: (((any Error)?) -> Void)? {
    get { completion }
    set { completion = newValue }
  }

  private var itemCompletion: ((CKShare.Participant) -> Void)?
  private var completion: (((any Error)?) -> Void)?
  private var sent: [CKUserIdentity.LookupInfo] = []

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
      let identity =
        identities[lookupInfo]
        ?? CKUserIdentity(
          userRecordID: lookupInfo.userRecordID, lookupInfo: lookupInfo, nameComponents: nil,
          hasiCloudAccount: lookupInfo.userRecordID != nil)
      let participant = CKShareParticipant(userIdentity: identity)
      perShareParticipantResultBlock?(lookupInfo, .success(participant))
      itemCompletion?(participant)
    }
    return nil
  }

  override func conclude(_ error: CKError?) {
    fetchShareParticipantsResultBlock?(error.map { .failure($0) } ?? .success(()))
    completion?(error)
  }

  override func releaseBlocks() {
    super.releaseBlocks()
    perShareParticipantResultBlock = nil
    fetchShareParticipantsResultBlock = nil
    itemCompletion = nil
    completion = nil
  }
}
