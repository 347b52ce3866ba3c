internal import CloudKitModel
internal import WebServices

/// An operation that searches the records of a database.
///
/// The server answers with at most 200 records. If it has more, ``queryResultBlock`` gets a cursor;
/// make another operation with that cursor for the next page. A cursor is a position in the
/// repeated query and no snapshot, so changes between two pages can show.
///
/// The operation fails with `invalidArguments` if CloudKit does not support the predicate or a sort
/// descriptor, if ``resultsLimit`` is negative, or without a query and a cursor.
///
/// ```swift
/// let query = CKQuery(recordType: "Note", predicate: NSPredicate(format: "year > %d", 1999))
/// query.sortDescriptors = [NSSortDescriptor(key: "year", ascending: true)]
/// let operation = CKQueryOperation(query: query)
/// operation.recordMatchedBlock = { recordID, result in … }
/// operation.queryResultBlock = { result in … }
/// database.add(operation)
/// ```
open class CKQueryOperation: CKDatabaseOperation, @unchecked Sendable {
  /// The type of the position at which a query continues.
  public typealias Cursor = CKQueryCursor

  /// The value of ``resultsLimit`` that leaves the number of results to the server: 0.
  open class var maximumResults: Int { 0 }

  /// The query to run. Ignored if ``cursor`` is set.
  open var query: CKQuery?
  /// The position at which an earlier query continues. The cursor contains the query and its zone,
  /// so ``query`` and ``zoneID`` are then ignored.
  open var cursor: CKQueryOperation.Cursor?
  /// The zone to search. Nil means all zones of the database; the shared database requires a zone.
  open var zoneID: CKRecordZone.ID?
  /// The largest number of results; ``maximumResults`` unless set. The server returns at most 200
  /// in any case. A negative number fails with `invalidArguments`.
  open var resultsLimit = CKQueryOperation.maximumResults
  /// The names of the fields to fetch. Nil means all fields; an empty list means only the system
  /// fields.
  open var desiredKeys: [CKRecord.FieldKey]?

  /// The block that the operation calls for each record that matches, in the order of the query,
  /// after the download of its assets. A failure means that this record could not be returned; the
  /// server's failures come last.
  public var recordMatchedBlock: ((CKRecord.ID, Result<CKRecord, any Error>) -> Void)?
  /// The block that the operation calls once, after the blocks of the records. A success has the
  /// cursor of the next page; nil means that there are no more results.
  public var queryResultBlock: ((Result<CKQueryOperation.Cursor?, any Error>) -> Void)?
  /// The block that the operation calls for each record that was fetched, after
  /// ``recordMatchedBlock``. Records that failed are left out.
  @available(*, deprecated, message: "Use recordMatchedBlock")
  open var recordFetchedBlock: ((CKRecord) -> Void)? {
    get { formerRecordBlock }
    set { formerRecordBlock = newValue }
  }
  /// The deprecated block, for code that must not cause its warning.
  var formerRecordBlock: ((CKRecord) -> Void)?
  /// The block that the operation calls once, after ``queryResultBlock``. The error is
  /// `partialFailure` if some records failed.
  @available(*, deprecated, message: "Use queryResultBlock")
  open var queryCompletionBlock: ((CKQueryOperation.Cursor?, (any Error)?) -> Void)? {
    get { formerCompletionBlock }
    set { formerCompletionBlock = newValue }
  }
  /// The deprecated block, for code that must not cause its warning.
  var formerCompletionBlock: ((CKQueryOperation.Cursor?, (any Error)?) -> Void)?

  /// The request as it was sent, with the date that `now()` stood for. The next cursor contains it.
  private var sent: QueryRecordsRequest?
  /// The cursor of the next page; nil before the answer and after the last page.
  private var nextCursor: CKQueryOperation.Cursor?
  private var itemErrors = ItemErrors()

  /// Makes an operation that returns the first results of a query.
  public convenience init(query: CKQuery) {
    self.init()
    self.query = query
  }

  /// Makes an operation that returns the next results of an earlier query.
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
    for hint in response.hints { PetrelConfiguration.warn("a query found no records: \(hint)") }
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
    // Apps ignore this error on a first run, and so also for a misspelt record type.
    if let error, error.code == .unknownItem {
      PetrelConfiguration.warn("a query failed: \(error.localizedDescription)")
    }
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
