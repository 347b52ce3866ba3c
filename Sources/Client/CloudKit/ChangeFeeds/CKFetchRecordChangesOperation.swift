internal import CloudKitModel
internal import WebServices

/// An operation that fetches one page of the records of a zone that changed or were deleted since a
/// token.
///
/// Apple has deprecated this operation. ``CKFetchRecordZoneChangesOperation`` replaces it and has
/// the same errors.
@available(*, deprecated, message: "Use CKFetchRecordZoneChangesOperation")
open class CKFetchRecordChangesOperation: CKDatabaseOperation, @unchecked Sendable {
  /// The zone. Without one, the operation fails with `invalidArguments`.
  open var recordZoneID: CKRecordZone.ID?
  /// The token of the last fetch; `nil` fetches everything.
  open var previousServerChangeToken: CKServerChangeToken?
  /// The fields to fetch; `nil` means all, an empty list only the system fields.
  open var desiredKeys: [CKRecord.FieldKey]?
  /// The largest number of changes; 0 lets the server choose. The server gives at most 200.
  open var resultsLimit = 0
  /// Whether another operation with the new token would fetch more changes. The value is valid when
  /// the completion block runs.
  open private(set) var moreComing = false

  /// Called for each record that is new or has changed. An asset that cannot be downloaded has no
  /// file.
  open var recordChangedBlock: ((CKRecord) -> Void)?
  /// Called for each record that was deleted.
  open var recordWithIDWasDeletedBlock: ((CKRecord.ID) -> Void)?
  /// Called last, with the new token, the client change token data and the error.
  ///
  /// The data is the `clientChangeTokenData` that this device sent with its last change of the
  /// zone. The data shows which of the device's changes the server has.
  open var fetchRecordChangesCompletionBlock: ((CKServerChangeToken?, Data?, (any Error)?) -> Void)?

  private var token: CKServerChangeToken?
  private var clientChangeTokenData: Data?

  /// Creates an operation for the changes of a zone since a token; `nil` fetches everything.
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
    // The block has no parameter for an error, so an asset that cannot be downloaded stays without
    // a file.
    return try report(response.changes) { [self] record, _ in
      recordChangedBlock?(record)
    } deleted: { [self] recordID, _ in
      recordWithIDWasDeletedBlock?(CKRecord.ID(recordID))
    } then: { [self] () throws(CKError) in
      finish(response)
      return nil
    }
  }

  /// Keeps the values of a page for the completion block.
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
