internal import CloudKitModel
internal import WebServices

/// An operation that fetches records by their IDs, with their assets.
///
/// A record that does not exist fails with `unknownItem`. Errors of single records go to
/// ``perRecordResultBlock``; the result of the operation is then still success. Only the deprecated
/// ``fetchRecordsCompletionBlock`` gets them together, as `partialFailure`.
///
/// The operation downloads the files of assets to a temporary folder of the process. Move a file
/// that you want to keep: see ``CKAsset``. At most 400 IDs are allowed; an operation with more
/// fails with `limitExceeded`.
///
/// ```swift
/// let operation = CKFetchRecordsOperation(recordIDs: [noteID])
/// operation.desiredKeys = ["title"]
/// operation.perRecordResultBlock = { recordID, result in … }
/// database.add(operation)
/// ```
open class CKFetchRecordsOperation: CKDatabaseOperation, @unchecked Sendable {
  /// The IDs of the records to fetch. With nil or an empty list, the operation succeeds without a
  /// request.
  open var recordIDs: [CKRecord.ID]?
  /// The names of the fields to fetch. Nil means all fields; an empty list means only the system
  /// fields. Assets in other fields are not downloaded.
  open var desiredKeys: [CKRecord.FieldKey]?

  /// The block that the operation calls with rising fractions below 1, while the assets of a record
  /// are downloaded. The block gets 1.0 when the record is complete, directly before
  /// ``perRecordResultBlock``.
  open var perRecordProgressBlock: ((CKRecord.ID, Double) -> Void)?
  /// The block that the operation calls with the result of each record, before
  /// ``fetchRecordsResultBlock``.
  public var perRecordResultBlock: ((CKRecord.ID, Result<CKRecord, any Error>) -> Void)?
  /// The block that the operation calls once, after the blocks of the records. The result is a
  /// failure only if the whole request failed.
  public var fetchRecordsResultBlock: ((Result<Void, any Error>) -> Void)?
  /// The block that the operation calls for each record, after ``perRecordResultBlock``. Either the
  /// record or the error is nil.
  @available(*, deprecated, message: "Use perRecordResultBlock")
  open var perRecordCompletionBlock: ((CKRecord?, CKRecord.ID?, (any Error)?) -> Void)? {
    get { formerPerRecordBlock }
    set { formerPerRecordBlock = newValue }
  }
  /// The deprecated block, for code that must not cause its warning.
  var formerPerRecordBlock: ((CKRecord?, CKRecord.ID?, (any Error)?) -> Void)?
  /// The block that the operation calls once, after ``fetchRecordsResultBlock``, with the records
  /// that were fetched. The error is `partialFailure` if some records failed; its
  /// ``CKPartialErrorsByItemIDKey`` has the errors by record ID.
  @available(*, deprecated, message: "Use fetchRecordsResultBlock")
  open var fetchRecordsCompletionBlock: (([CKRecord.ID: CKRecord]?, (any Error)?) -> Void)? {
    get { formerCompletionBlock }
    set { formerCompletionBlock = newValue }
  }
  /// The deprecated block, for code that must not cause its warning.
  var formerCompletionBlock: (([CKRecord.ID: CKRecord]?, (any Error)?) -> Void)?

  /// Whether the operation fetches the record of the current user. The operation then asks the
  /// server for the user's record name first.
  var fetchesCurrentUser = false
  /// The IDs in the order of the request; nil until the request for the records is made.
  private var sent: [CKRecord.ID]?
  private var records: [CKRecord.ID: CKRecord] = [:]
  private var itemErrors = ItemErrors()

  /// Makes an operation that fetches the records with these IDs.
  public convenience init(recordIDs: [CKRecord.ID]) {
    self.init()
    self.recordIDs = recordIDs
  }

  /// Makes an operation that fetches the record of the current user, and ignores ``recordIDs``.
  ///
  /// Call it on `CKFetchRecordsOperation`. On a subclass it stops the program.
  open class func fetchCurrentUserRecordOperation() -> Self {
    let operation = CKFetchRecordsOperation()
    operation.fetchesCurrentUser = true
    return made(operation)
  }

  override func firstCall() throws(CKError) -> ServiceCall? {
    if fetchesCurrentUser { return .caller }
    return lookup(recordIDs ?? [])
  }

  private func lookup(_ recordIDs: [CKRecord.ID]) -> ServiceCall? {
    sent = recordIDs
    guard !recordIDs.isEmpty else { return nil }
    let request = LookupRecordsRequest(
      recordIDs: recordIDs.map(\.model), desiredKeys: desiredKeys.map { Set($0) })
    return call("records/lookup", body: request.body(context: messageContext))
  }

  override func receive(_ answer: ServiceExchange.Answer) throws(CKError) -> ServiceCall? {
    guard let sent else {
      let user = try read { () throws(ServiceError) in try UserResponse(parsing: answer.body) }
      return lookup([CKRecord.ID(RecordID(recordName: user.userRecordName))])
    }
    let context = messageContext
    let response = try read { () throws(ServiceError) in
      try RecordsResponse(parsing: answer.body, context: context)
    }
    var fetched: [(CKRecord.ID, CKRecord)] = []
    for (recordID, item) in try pair(sent, with: response.records) {
      switch item {
      case .success(.record(let model)):
        fetched.append((recordID, CKRecord(model)))
      case .success(.deleted):
        finish(recordID, .failure(CKError(.unknownItem, "the record was deleted")))
      case .failure(let failed):
        finish(recordID, .failure(CKError(failed.error)))
      }
    }
    // The blocks get the IDs of the request. The record's own ID can name the owner of its zone in
    // another way, such as the record name of the current user.
    let asked = Dictionary(
      fetched.map { (ObjectIdentifier($1), $0) }, uniquingKeysWith: { first, _ in first })
    return try downloadAssets(of: fetched.map(\.1)) { [self] record, fraction in
      perRecordProgressBlock?(asked[ObjectIdentifier(record)] ?? record.recordID, fraction)
    } deliver: { [self] record, error in
      let recordID = asked[ObjectIdentifier(record)] ?? record.recordID
      finish(recordID, error.map { .failure($0) } ?? .success(record))
    }
  }

  private func finish(_ recordID: CKRecord.ID, _ result: Result<CKRecord, CKError>) {
    switch result {
    case .success(let record):
      records[recordID] = record
      perRecordProgressBlock?(recordID, 1)
      perRecordResultBlock?(recordID, .success(record))
      formerPerRecordBlock?(record, recordID, nil)
    case .failure(let error):
      itemErrors.add(error, for: recordID)
      perRecordResultBlock?(recordID, .failure(error))
      formerPerRecordBlock?(nil, recordID, error)
    }
  }

  override func conclude(_ error: CKError?) {
    fetchRecordsResultBlock?(error.map { .failure($0) } ?? .success(()))
    formerCompletionBlock?(records, error ?? itemErrors.partialFailure)
  }

  override func releaseBlocks() {
    super.releaseBlocks()
    perRecordProgressBlock = nil
    perRecordResultBlock = nil
    fetchRecordsResultBlock = nil
    formerPerRecordBlock = nil
    formerCompletionBlock = nil
  }
}

extension ServiceCall {
  static let caller = ServiceCall(operation: "users/caller", scope: .public)
}
