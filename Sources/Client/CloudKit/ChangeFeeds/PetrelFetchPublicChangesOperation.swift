internal import CloudKitModel
internal import WebServices

/// An operation that fetches the records that have changed in the public database, or were deleted from it, since the
/// app got a token. A token is the position up to which the app has read the feed.
///
/// This operation is an addition of Petrel. Apple's public database has no change feed. Apple's own operations for
/// feeds therefore fail with `badDatabase` in the public database, here too.
///
/// For each record the operation reports the latest state, or the deletion, in the order of the last changes. Only
/// records that the caller may read at the time of the request are reported. A deletion is reported only when the
/// caller may read all records of that type. If the schema lets everyone read, no user has to be signed in.
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
/// The errors of the operation:
///
/// - `changeTokenExpired`: the server no longer keeps deletions that are newer than the token. Delete the cached
///   records and start with `nil`.
/// - `badDatabase`: the database is private or shared. ``CKFetchRecordZoneChangesOperation`` reads the feeds of such
///   databases.
/// - `invalidArguments`: ``resultsLimit`` is negative, or the token is the token of a database.
open class PetrelFetchPublicChangesOperation: CKDatabaseOperation, @unchecked Sendable {
  /// The token of the previous fetch; `nil` starts at the beginning of the feed.
  open var previousServerChangeToken: CKServerChangeToken?
  /// The types of the records to fetch; `nil` means all.
  ///
  /// A token is a position in the feed of all types. If you change the types and keep the token, the operation does not
  /// report changes of the added types before that position.
  open var recordTypes: [CKRecord.RecordType]?
  /// The fields to fetch; `nil` means all. An empty list means only the system fields, such as the change tag.
  open var desiredKeys: [CKRecord.FieldKey]?
  /// The largest number of changes in one answer; 0 lets the server choose. The server returns at most 200.
  open var resultsLimit = 0
  /// Whether the operation sends requests until no change is left; true unless set. If false, the operation ends after
  /// one answer, and the result says whether more changes are available.
  open var fetchAllChanges = true

  /// Called for each record that is new or has changed, after the download of its assets.
  ///
  /// The result is `assetNotAvailable` when the server does not have the file of an asset any more.
  open var recordWasChangedBlock: ((CKRecord.ID, Result<CKRecord, any Error>) -> Void)?
  /// Called for each record that was deleted, with the type that the record had.
  open var recordWithIDWasDeletedBlock: ((CKRecord.ID, CKRecord.RecordType) -> Void)?
  /// Called after the changes of each answer, with the token for the next fetch. Keep the token. After a failure, the
  /// next fetch can start with it.
  open var changeTokenUpdatedBlock: ((CKServerChangeToken) -> Void)?
  /// Called last, with the new token and whether more changes are available, or with the error of the operation.
  open var fetchPublicChangesResultBlock:
    ((Result<(serverChangeToken: CKServerChangeToken, moreComing: Bool), any Error>) -> Void)?

  private var token: CKServerChangeToken?
  private var moreComing = false

  /// Creates an operation for the changes since the app got a token; `nil` starts at the beginning of the feed.
  public convenience init(previousServerChangeToken: CKServerChangeToken?) {
    self.init()
    self.previousServerChangeToken = previousServerChangeToken
  }

  override func firstCall() throws(CKError) -> ServiceCall? {
    if let scope = database?.databaseScope, scope != .public {
      throw CKError(
        .badDatabase,
        "PetrelFetchPublicChangesOperation reads only the public database; use "
          + "CKFetchRecordZoneChangesOperation for the zones of this database")
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
        .failure(error ?? CKError(.internalError, "the server's answer has no change token")))
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
