internal import CloudKitModel
internal import WebServices

/// Fetches what became of one zone's records since a token, as far as one answer goes. Apple
/// deprecates it for ``CKFetchRecordZoneChangesOperation``, whose errors it shares.
@available(*, deprecated, message: "Use CKFetchRecordZoneChangesOperation")
open class CKFetchRecordChangesOperation: CKDatabaseOperation, @unchecked Sendable {
  open var recordZoneID: CKRecordZone.ID?
  /// Where to go on; nil fetches everything.
  open var previousServerChangeToken: CKServerChangeToken?
  /// The fields to fetch; nil means all, an empty list only the system fields.
  open var desiredKeys: [CKRecord.FieldKey]?
  /// Changes at most; 0 leaves it to the server.
  open var resultsLimit = 0
  /// Whether another operation with the new token would fetch more; valid from the completion block
  /// on.
  open private(set) var moreComing = false

  open var recordChangedBlock: ((CKRecord) -> Void)?
  open var recordWithIDWasDeletedBlock: ((CKRecord.ID) -> Void)?
  /// Called last, with the new token and what this device gave as `clientChangeTokenData` when it
  /// last changed the zone.
  open var fetchRecordChangesCompletionBlock: ((CKServerChangeToken?, Data?, (any Error)?) -> Void)?

  private var token: CKServerChangeToken?
  private var clientChangeTokenData: Data?

  public convenience init(
    recordZoneID: CKRecordZone.ID, previousServerChangeToken: CKServerChangeToken?
  ) {
    self.init()
    self.recordZoneID = recordZoneID
    self.previousServerChangeToken = previousServerChangeToken
  }

  override func firstCall() throws(CKError) -> ServiceCall? {
    try checkHasFeed()
    guard let recordZoneID else {
      throw CKError(.invalidArguments, "CKFetchRecordChangesOperation has no recordZoneID")
    }
    guard resultsLimit >= 0 else {
      throw CKError(.invalidArguments, "resultsLimit \(resultsLimit) must not be negative")
    }
    var request = RecordChangesRequest(
      zoneID: recordZoneID.model, syncToken: previousServerChangeToken?.syncToken)
    request.resultsLimit = resultsLimit
    request.desiredKeys = desiredKeys.map { Set($0) }
    return call("records/changes", body: request.body(context: messageContext))
  }

  override func receive(_ answer: ServiceExchange.Answer) throws(CKError) -> ServiceCall? {
    let context = messageContext
    let response = try read { () throws(ServiceError) in
      try RecordChangesResponse(parsing: answer.body, context: context)
    }
    // The block has no place for an error: an asset that is not to be had stays without a file.
    return try report(response.changes) { [self] record, _ in
      recordChangedBlock?(record)
    } deleted: { [self] recordID, _ in
      recordWithIDWasDeletedBlock?(CKRecord.ID(recordID))
    } then: { [self] () throws(CKError) in
      finish(response)
      return nil
    }
  }

  private func finish(_ response: RecordChangesResponse) {
    token = CKServerChangeToken(syncToken: response.syncToken)
    clientChangeTokenData = response.clientChangeTokenData
    moreComing = response.moreComing
  }

  override func conclude(_ error: CKError?) {
    fetchRecordChangesCompletionBlock?(token, clientChangeTokenData, error)
  }

  override func releaseBlocks() {
    super.releaseBlocks()
    recordChangedBlock = nil
    recordWithIDWasDeletedBlock = nil
    fetchRecordChangesCompletionBlock = nil
  }
}
