internal import CloudKitModel
internal import WebServices

/// An operation that fetches one page of the records that have changed in a zone, or were deleted
/// from it, since the app got a token. A token is the position up to which the app has read the
/// zone's feed.
///
/// Apple has deprecated this operation in favour of ``CKFetchRecordZoneChangesOperation``, which
/// lists the errors of a zone. Here the error of the zone is the error of the operation.
@available(*, deprecated, message: "Use CKFetchRecordZoneChangesOperation")
open class CKFetchRecordChangesOperation: CKDatabaseOperation, @unchecked Sendable {
  /// The zone. Without a zone, the operation fails with `invalidArguments`.
  open var recordZoneID: CKRecordZone.ID?
  /// The token of the previous fetch; `nil` starts at the beginning of the feed.
  open var previousServerChangeToken: CKServerChangeToken?
  /// The fields to fetch; `nil` means all. An empty list means only the system fields, such as the
  /// change tag.
  open var desiredKeys: [CKRecord.FieldKey]?
  /// The largest number of changes; 0 lets the server choose. The server returns at most 200. A
  /// negative number fails with `invalidArguments`.
  open var resultsLimit = 0
  /// Whether another operation with the new token would fetch more changes. The value is valid when
  /// the completion block runs.
  open private(set) var moreComing = false

  /// Called for each record that is new or has changed. If the server no longer has an asset of the
  /// record, the asset has no file.
  open var recordChangedBlock: ((CKRecord) -> Void)?
  /// Called for each record that was deleted.
  open var recordWithIDWasDeletedBlock: ((CKRecord.ID) -> Void)?
  /// Called last, with the new token, the client change token data and the error.
  ///
  /// The data is the ``CKModifyRecordsOperation/clientChangeTokenData`` of the last change that
  /// this device made in the zone; `nil` if there is none. The app sees from the data which of its
  /// changes the server has.
  open var fetchRecordChangesCompletionBlock: ((CKServerChangeToken?, Data?, (any Error)?) -> Void)?

  private var token: CKServerChangeToken?
  private var clientChangeTokenData: Data?

  /// Creates an operation for the changes of a zone since the app got a token; `nil` starts at the
  /// beginning of the feed.
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
    // The block has no parameter for an error. An asset that cannot be downloaded therefore has no
    // file.
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
