internal import CloudKitModel
internal import WebServices

/// Fetches what became of the public database's records since a token. Petrel's own: at Apple the public database has
/// no change feed, and Apple's own operations give `badDatabase` for it here too.
///
/// The operation reports each record once, by its latest state or as deleted, in the order of the last changes. It
/// reports only records that the caller may read when asking, and only deletions of types of which the caller may read
/// all records. Where the schema lets everybody read, no user has to be signed in.
///
/// ```swift
/// let operation = PetrelFetchPublicChangesOperation(previousServerChangeToken: token)
/// operation.recordTypes = ["Earthquake"]
/// operation.recordWasChangedBlock = { recordID, result in … }
/// operation.recordWithIDWasDeletedBlock = { recordID, recordType in … }
/// operation.fetchPublicChangesResultBlock = { result in … }
/// CKContainer.default().publicCloudDatabase.add(operation)
/// ```
///
/// - `changeTokenExpired`: the token is from before deletions that the server has forgotten. Drop what was kept and
///   start without one.
/// - `badDatabase`: the database is not the public one, whose feed
///   ``CKFetchRecordZoneChangesOperation`` reads.
/// - `invalidArguments`: a negative ``resultsLimit``, or a token of another kind.
open class PetrelFetchPublicChangesOperation: CKDatabaseOperation, @unchecked Sendable {
  /// Where to go on; nil fetches everything.
  open var previousServerChangeToken: CKServerChangeToken?
  /// The types of the records to fetch; nil means all. A token stands for the whole feed: an operation with other
  /// types and the same token leaves out what changed before it.
  open var recordTypes: [CKRecord.RecordType]?
  /// The fields to fetch; nil means all, an empty list only the system fields.
  open var desiredKeys: [CKRecord.FieldKey]?
  /// Changes in one answer at most; 0 leaves it to the server, which gives at most 200.
  open var resultsLimit = 0
  /// Whether the operation asks on until nothing is left; otherwise it ends after one answer, and
  /// says whether more is coming.
  open var fetchAllChanges = true

  /// Called for each record that is not gone, once its assets are there; with an error where they are not to be had.
  open var recordWasChangedBlock: ((CKRecord.ID, Result<CKRecord, any Error>) -> Void)?
  open var recordWithIDWasDeletedBlock: ((CKRecord.ID, CKRecord.RecordType) -> Void)?
  /// Called after the changes of each answer, with the token that stands for them.
  open var changeTokenUpdatedBlock: ((CKServerChangeToken) -> Void)?
  /// Called last.
  open var fetchPublicChangesResultBlock:
    ((Result<(serverChangeToken: CKServerChangeToken, moreComing: Bool), any Error>) -> Void)?

  private var token: CKServerChangeToken?
  private var moreComing = false

  public convenience init(previousServerChangeToken: CKServerChangeToken?) {
    self.init()
    self.previousServerChangeToken = previousServerChangeToken
  }

  override func firstCall() throws(CKError) -> ServiceCall? {
    if let scope = database?.databaseScope, scope != .public {
      throw CKError(
        .badDatabase,
        "PetrelFetchPublicChangesOperation reads the public database; fetch the changes of this one's "
          + "zones with CKFetchRecordZoneChangesOperation")
    }
    guard resultsLimit >= 0 else {
      throw CKError(.invalidArguments, "resultsLimit \(resultsLimit) must not be negative")
    }
    return nextCall(since: previousServerChangeToken)
  }

  private func nextCall(since token: CKServerChangeToken?) -> ServiceCall {
    var request = RecordChangesRequest(zoneID: .default, syncToken: token?.syncToken)
    request.resultsLimit = resultsLimit
    request.desiredKeys = desiredKeys.map { Set($0) }
    request.desiredRecordTypes = recordTypes.map { Set($0) }
    return call("records/changes", body: request.body(context: messageContext))
  }

  override func receive(_ answer: ServiceExchange.Answer) throws(CKError) -> ServiceCall? {
    let context = messageContext
    let page = try read { () throws(ServiceError) in
      try RecordChangesResponse(parsing: answer.body, context: context)
    }
    return try report(page.changes) { [self] record, error in
      recordWasChangedBlock?(record.recordID, error.map { .failure($0) } ?? .success(record))
    } deleted: { [self] recordID, recordType in
      recordWithIDWasDeletedBlock?(CKRecord.ID(recordID), recordType)
    } then: { [self] () throws(CKError) in
      let token = CKServerChangeToken(syncToken: page.syncToken)
      self.token = token
      moreComing = page.moreComing
      changeTokenUpdatedBlock?(token)
      return moreComing && fetchAllChanges ? nextCall(since: token) : nil
    }
  }

  override func conclude(_ error: CKError?) {
    if let token, error == nil {
      fetchPublicChangesResultBlock?(.success((token, moreComing)))
    } else {
      fetchPublicChangesResultBlock?(
        .failure(error ?? CKError(.internalError, "the server gave no change token")))
    }
  }

  override func releaseBlocks() {
    super.releaseBlocks()
    recordWasChangedBlock = nil
    recordWithIDWasDeletedBlock = nil
    changeTokenUpdatedBlock = nil
    fetchPublicChangesResultBlock = nil
  }
}
