internal import CloudKitModel
internal import WebServices

/// An operation that fetches the zones that have changed, or were deleted, in a private or shared
/// database since the app got a token. A token is the position up to which the app has read the
/// feed.
///
/// The feed has one entry for each zone. The operation never reports the default zone, because the
/// default zone has no feed.
///
/// ```swift
/// let operation = CKFetchDatabaseChangesOperation(previousServerChangeToken: token)
/// operation.recordZoneWithIDChangedBlock = { zoneID in … }
/// operation.recordZoneWithIDWasDeletedBlock = { zoneID in … }
/// operation.fetchDatabaseChangesResultBlock = { result in … }
/// CKContainer.default().privateCloudDatabase.add(operation)
/// ```
///
/// The errors of the operation:
///
/// - `changeTokenExpired`: the token belongs to another database or server, or the server no longer
///   keeps deletions that are newer than the token. Delete the cached data and start with `nil`.
/// - `badDatabase`: the operation was added to the public database, which has no feed of zones.
/// - `invalidArguments`: ``resultsLimit`` is negative, or the token is the token of a zone.
open class CKFetchDatabaseChangesOperation: CKDatabaseOperation, @unchecked Sendable {
  /// The token of the previous fetch; `nil` starts at the beginning of the feed.
  open var previousServerChangeToken: CKServerChangeToken?
  /// The largest number of zones in one answer; 0 lets the server choose. The server returns at
  /// most 200.
  open var resultsLimit = 0
  /// Whether the operation sends requests until no change is left; true unless set. If false, the
  /// operation ends after one answer, and the result says whether more changes are available.
  open var fetchAllChanges = true

  /// Called for each zone that is new, or whose records have changed.
  open var recordZoneWithIDChangedBlock: ((CKRecordZone.ID) -> Void)?
  /// Called for each zone that an app deleted.
  open var recordZoneWithIDWasDeletedBlock: ((CKRecordZone.ID) -> Void)?
  /// Called for each zone that was deleted for the user outside of the app: by the operator of the
  /// server, with a command or in the console. Ask the user before you upload data to such a zone
  /// again.
  open var recordZoneWithIDWasPurgedBlock: ((CKRecordZone.ID) -> Void)?
  /// Never called, because Petrel has no key of the user for encrypted data, so the user cannot
  /// reset it. The property exists for source compatibility.
  open var recordZoneWithIDWasDeletedDueToUserEncryptedDataResetBlock: ((CKRecordZone.ID) -> Void)?
  /// Called after the zones of each answer, with the token for the next fetch. Keep the token.
  /// After a failure, the next fetch can start with it.
  open var changeTokenUpdatedBlock: ((CKServerChangeToken) -> Void)?
  /// Called last, with the new token and whether more changes are available, or with the error of
  /// the operation.
  public var fetchDatabaseChangesResultBlock:
    ((Result<(serverChangeToken: CKServerChangeToken, moreComing: Bool), any Error>) -> Void)?

  /// Called last, after ``fetchDatabaseChangesResultBlock``. The Boolean says whether more changes
  /// are available.
  ///
  /// After an error, the token is the one in the last complete answer; `nil` if there was none.
  @available(*, deprecated, message: "Use fetchDatabaseChangesResultBlock")
  open var fetchDatabaseChangesCompletionBlock:
    ((CKServerChangeToken?, Bool, (any Error)?) -> Void)?
  {
    get { formerCompletionBlock }
    set { formerCompletionBlock = newValue }
  }
  /// The deprecated block, for code that must not cause its warning.
  private var formerCompletionBlock: ((CKServerChangeToken?, Bool, (any Error)?) -> Void)?

  private var token: CKServerChangeToken?
  private var moreComing = false

  /// Creates an operation for the changes since the app got a token; `nil` starts at the beginning
  /// of the feed.
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
      case .success(.purged(let zoneID)):
        recordZoneWithIDWasPurgedBlock?(CKRecordZone.ID(zoneID))
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
      let error =
        error ?? CKError(.internalError, "the server's answer has no change token")
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
