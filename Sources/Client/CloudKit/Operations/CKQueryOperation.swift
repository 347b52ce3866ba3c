internal import CloudKitModel
internal import WebServices

/// Searches records.
///
/// When there are more results than fit in an answer, the result is a cursor for another operation.
open class CKQueryOperation: CKDatabaseOperation, @unchecked Sendable {
  public typealias Cursor = CKQueryCursor

  /// Stands for as many results as the server gives at once.
  open class var maximumResults: Int { 0 }

  open var query: CKQuery?
  /// Where to go on; `query` and `zoneID` are ignored then.
  open var cursor: CKQueryOperation.Cursor?
  /// The zone to search; nil means all. The shared database needs one.
  open var zoneID: CKRecordZone.ID?
  /// Results at most; the server gives at most 200.
  open var resultsLimit = CKQueryOperation.maximumResults
  /// The fields to fetch; nil means all, an empty list only the system fields.
  open var desiredKeys: [CKRecord.FieldKey]?

  public var recordMatchedBlock: ((CKRecord.ID, Result<CKRecord, any Error>) -> Void)?
  public var queryResultBlock: ((Result<CKQueryOperation.Cursor?, any Error>) -> Void)?
  /// Called for each record.
  @available(*, deprecated, message: "Use recordMatchedBlock")
  open var recordFetchedBlock: ((CKRecord) -> Void)? {
    get { formerRecordBlock }
    set { formerRecordBlock = newValue }
  }
  var formerRecordBlock: ((CKRecord) -> Void)?
  /// Called last.
  @available(*, deprecated, message: "Use queryResultBlock")
  open var queryCompletionBlock: ((CKQueryOperation.Cursor?, (any Error)?) -> Void)? {
    get { formerCompletionBlock }
    set { formerCompletionBlock = newValue }
  }
  var formerCompletionBlock: ((CKQueryOperation.Cursor?, (any Error)?) -> Void)?

  private var sent: QueryRecordsRequest?
  private var nextCursor: CKQueryOperation.Cursor?
  private var itemErrors = ItemErrors()

  public convenience init(query: CKQuery) {
    self.init()
    self.query = query
  }

  public convenience init(cursor: CKQueryOperation.Cursor) {
    self.init()
    self.cursor = cursor
  }

  override func firstCall() throws(CKError) -> ServiceCall? {
    guard resultsLimit >= 0 else {
      throw CKError(.invalidArguments, "resultsLimit \(resultsLimit) must not be negative")
    }
    let desiredKeys = desiredKeys.map { Set($0) }
    let request: QueryRecordsRequest
    if let cursor {
      request = QueryRecordsRequest(
        query: cursor.query, zoneID: cursor.zoneID, resultsLimit: resultsLimit,
        continuationMarker: cursor.continuationMarker, desiredKeys: desiredKeys)
    } else if let query {
      request = QueryRecordsRequest(
        query: try query.model(now: .now), zoneID: zoneID?.model, resultsLimit: resultsLimit,
        desiredKeys: desiredKeys)
    } else {
      throw CKError(.invalidArguments, "CKQueryOperation has neither a query nor a cursor")
    }
    sent = request
    return call("records/query", body: request.body(context: messageContext))
  }

  override func receive(_ answer: ServiceExchange.Answer) throws(CKError) -> ServiceCall? {
    let context = messageContext
    let response = try read { () throws(ServiceError) in
      try RecordsResponse(parsing: answer.body, context: context)
    }
    let marker = response.continuationMarker
    if let marker, let sent {
      nextCursor = Cursor(query: sent.query, zoneID: sent.zoneID, continuationMarker: marker)
    }
    let records = response.records.compactMap { item in
      if case .success(.record(let model)) = item { CKRecord(model) } else { nil }
    }
    return try downloadAssets(of: records) { [self] record, error in
      if let error { return fail(record.recordID, error) }
      recordMatchedBlock?(record.recordID, .success(record))
      formerRecordBlock?(record)
    } then: { [self] () throws(CKError) in
      reportFailures(in: response)
      return nil
    }
  }

  private func reportFailures(in response: RecordsResponse) {
    for case .failure(let failed) in response.records {
      guard case .record(let name, let zoneID) = failed.name else { continue }
      let recordID = CKRecord.ID(RecordID(recordName: name, zoneID: zoneID ?? .default))
      fail(recordID, CKError(failed.error))
    }
  }

  private func fail(_ recordID: CKRecord.ID, _ error: CKError) {
    itemErrors.add(error, for: recordID)
    recordMatchedBlock?(recordID, .failure(error))
  }

  override func conclude(_ error: CKError?) {
    queryResultBlock?(error.map { .failure($0) } ?? .success(nextCursor))
    formerCompletionBlock?(nextCursor, error ?? itemErrors.partialFailure)
  }

  override func releaseBlocks() {
    super.releaseBlocks()
    recordMatchedBlock = nil
    queryResultBlock = nil
    formerRecordBlock = nil
    formerCompletionBlock = nil
  }
}
