internal import CloudKitModel
internal import WebServices

/// Fetches which zones of a private or shared database changed or were deleted since a token.
///
/// Each zone is told of once. The default zone has no feed and is never among them. A token from
/// before deletions that the server has forgotten, or from another database, gives
/// `changeTokenExpired`: drop what was kept and start without one. The public database gives
/// `badDatabase`.
open class CKFetchDatabaseChangesOperation: CKDatabaseOperation, @unchecked Sendable {
  /// Where to go on; nil fetches everything.
  open var previousServerChangeToken: CKServerChangeToken?
  /// Zones in one answer at most; 0 leaves it to the server.
  open var resultsLimit = 0
  /// Whether the operation asks on until nothing is left; otherwise it ends after one answer, and
  /// says whether more is coming.
  open var fetchAllChanges = true

  open var recordZoneWithIDChangedBlock: ((CKRecordZone.ID) -> Void)?
  open var recordZoneWithIDWasDeletedBlock: ((CKRecordZone.ID) -> Void)?
  /// Kept for source compatibility: a user's settings cannot purge zones here.
  open var recordZoneWithIDWasPurgedBlock: ((CKRecordZone.ID) -> Void)?
  /// Kept for source compatibility: there is no key that a user could reset here.
  open var recordZoneWithIDWasDeletedDueToUserEncryptedDataResetBlock: ((CKRecordZone.ID) -> Void)?
  /// Called after the zones of each answer, with the token that stands for them.
  open var changeTokenUpdatedBlock: ((CKServerChangeToken) -> Void)?
  public var fetchDatabaseChangesResultBlock:
    ((Result<(serverChangeToken: CKServerChangeToken, moreComing: Bool), any Error>) -> Void)?

  /// Called last. The flag says whether more is coming.
  @available(*, deprecated, message: "Use fetchDatabaseChangesResultBlock")
  open var fetchDatabaseChangesCompletionBlock:
    ((CKServerChangeToken?, Bool, (any Error)?) -> Void)?
  {
    get { formerCompletionBlock }
    set { formerCompletionBlock = newValue }
  }
  private var formerCompletionBlock: ((CKServerChangeToken?, Bool, (any Error)?) -> Void)?

  private var token: CKServerChangeToken?
  private var moreComing = false

  public convenience init(previousServerChangeToken: CKServerChangeToken?) {
    self.init()
    self.previousServerChangeToken = previousServerChangeToken
  }

  override func firstCall() throws(CKError) -> ServiceCall? {
    guard resultsLimit >= 0 else {
      throw CKError(.invalidArguments, "resultsLimit \(resultsLimit) must not be negative")
    }
    return nextCall(since: previousServerChangeToken)
  }

  private func nextCall(since token: CKServerChangeToken?) -> ServiceCall {
    let request = DatabaseChangesRequest<CurrentDatabaseChanges>(
      syncToken: token?.syncToken, resultsLimit: resultsLimit)
    return call("changes/database", body: request.body)
  }

  override func receive(_ answer: ServiceExchange.Answer) throws(CKError) -> ServiceCall? {
    let context = messageContext
    let response = try read { () throws(ServiceError) in
      try DatabaseChangesResponse<CurrentDatabaseChanges>(parsing: answer.body, context: context)
    }
    for zone in response.zones {
      switch zone {
      case .success(.changed(let zoneID)):
        recordZoneWithIDChangedBlock?(CKRecordZone.ID(zoneID))
      case .success(.deleted(let zoneID)):
        recordZoneWithIDWasDeletedBlock?(CKRecordZone.ID(zoneID))
      case .failure(let failed):
        throw CKError(failed.error)
      }
    }
    let token = CKServerChangeToken(syncToken: response.syncToken)
    self.token = token
    moreComing = response.moreComing
    changeTokenUpdatedBlock?(token)
    return moreComing && fetchAllChanges ? nextCall(since: token) : nil
  }

  override func conclude(_ error: CKError?) {
    if let token, error == nil {
      fetchDatabaseChangesResultBlock?(.success((token, moreComing)))
      formerCompletionBlock?(token, moreComing, nil)
    } else {
      let error = error ?? CKError(.internalError, "the server gave no change token")
      fetchDatabaseChangesResultBlock?(.failure(error))
      formerCompletionBlock?(token, false, error)
    }
  }

  override func releaseBlocks() {
    super.releaseBlocks()
    recordZoneWithIDChangedBlock = nil
    recordZoneWithIDWasDeletedBlock = nil
    recordZoneWithIDWasPurgedBlock = nil
    recordZoneWithIDWasDeletedDueToUserEncryptedDataResetBlock = nil
    changeTokenUpdatedBlock = nil
    fetchDatabaseChangesResultBlock = nil
    formerCompletionBlock = nil
  }
}
