internal import CloudKitModel
internal import WebServices

/// Fetches records by their IDs. A record that does not exist fails with `unknownItem`.
open class CKFetchRecordsOperation: CKDatabaseOperation, @unchecked Sendable {
  open var recordIDs: [CKRecord.ID]?
  /// The fields to fetch; nil means all, an empty list only the system fields.
  open var desiredKeys: [CKRecord.FieldKey]?

  /// Called with growing fractions while a record's assets are downloaded, and with 1.0 when the
  /// record is there.
  open var perRecordProgressBlock: ((CKRecord.ID, Double) -> Void)?
  public var perRecordResultBlock: ((CKRecord.ID, Result<CKRecord, any Error>) -> Void)?
  public var fetchRecordsResultBlock: ((Result<Void, any Error>) -> Void)?
  /// Called for each record.
  @available(*, deprecated, message: "Use perRecordResultBlock")
  open var perRecordCompletionBlock: ((CKRecord?, CKRecord.ID?, (any Error)?) -> Void)? {
    get { formerPerRecordBlock }
    set { formerPerRecordBlock = newValue }
  }
  var formerPerRecordBlock: ((CKRecord?, CKRecord.ID?, (any Error)?) -> Void)?
  /// Called last.
  @available(*, deprecated, message: "Use fetchRecordsResultBlock")
  open var fetchRecordsCompletionBlock: (([CKRecord.ID: CKRecord]?, (any Error)?) -> Void)? {
    get { formerCompletionBlock }
    set { formerCompletionBlock = newValue }
  }
  var formerCompletionBlock: (([CKRecord.ID: CKRecord]?, (any Error)?) -> Void)?

  var fetchesCurrentUser = false
  private var sent: [CKRecord.ID]?
  private var records: [CKRecord.ID: CKRecord] = [:]
  private var itemErrors = ItemErrors()

  public convenience init(recordIDs: [CKRecord.ID]) {
    self.init()
    self.recordIDs = recordIDs
  }

  /// Fetches the record of the current user.
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
    // An ID as it was asked for may name the zone's owner otherwise than the record does.
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
  /// Asks who makes the call.
  static let caller = ServiceCall(operation: "users/caller", scope: .public)
}
