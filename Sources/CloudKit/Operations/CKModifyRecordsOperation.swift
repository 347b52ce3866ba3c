internal import CloudKitModel
internal import WebServices

/// Saves and deletes records.
///
/// At most 400 records and deletions, else `limitExceeded`: split them in two. An error of a single
/// record goes to its block, and the result is success; only the deprecated
/// ``modifyRecordsCompletionBlock`` gets them together, as `partialFailure`.
open class CKModifyRecordsOperation: CKDatabaseOperation, @unchecked Sendable {
  /// What happens when the server has another version of a record.
  public enum RecordSavePolicy: Int, Sendable {
    /// The changed fields are saved, unless the server's record changed since it was fetched:
    /// `serverRecordChanged`.
    case ifServerRecordUnchanged = 0
    /// The changed fields are saved, whatever the server has.
    case changedKeys = 1
    /// All fields are saved, whatever the server has; fields that only the server has stay.
    case allKeys = 2
  }

  open var recordsToSave: [CKRecord]?
  open var recordIDsToDelete: [CKRecord.ID]?
  open var savePolicy = RecordSavePolicy.ifServerRecordUnchanged
  /// Whether, in zones that can, all changes of a zone are made or none. One failure then gives
  /// the zone's other records `batchRequestFailed`.
  open var isAtomic = true
  /// Data that later fetches of this device from the changed zones bring back, so that it sees that
  /// the server has these changes. At most 10,000 bytes.
  open var clientChangeTokenData: Data?

  /// Called with 1.0 for each record that was saved.
  open var perRecordProgressBlock: ((CKRecord, Double) -> Void)?
  public var perRecordSaveBlock: ((CKRecord.ID, Result<CKRecord, any Error>) -> Void)?
  public var perRecordDeleteBlock: ((CKRecord.ID, Result<Void, any Error>) -> Void)?
  public var modifyRecordsResultBlock: ((Result<Void, any Error>) -> Void)?
  /// Called for each record to save.
  @available(*, deprecated, message: "Use perRecordSaveBlock")
  open var perRecordCompletionBlock: ((CKRecord, (any Error)?) -> Void)? {
    get { formerPerRecordBlock }
    set { formerPerRecordBlock = newValue }
  }
  var formerPerRecordBlock: ((CKRecord, (any Error)?) -> Void)?
  /// Called last.
  @available(*, deprecated, message: "Use modifyRecordsResultBlock")
  open var modifyRecordsCompletionBlock: (([CKRecord]?, [CKRecord.ID]?, (any Error)?) -> Void)? {
    get { formerCompletionBlock }
    set { formerCompletionBlock = newValue }
  }
  var formerCompletionBlock: (([CKRecord]?, [CKRecord.ID]?, (any Error)?) -> Void)?

  private enum Item {
    case save(CKRecord)
    case delete(CKRecord.ID)
  }

  private var sent: [Item] = []
  private var savedRecords: [CKRecord] = []
  private var deletedRecordIDs: [CKRecord.ID] = []
  private var itemErrors = ItemErrors()

  public convenience init(
    recordsToSave: [CKRecord]? = nil, recordIDsToDelete: [CKRecord.ID]? = nil
  ) {
    self.init()
    self.recordsToSave = recordsToSave
    self.recordIDsToDelete = recordIDsToDelete
  }

  override func firstCall() throws(CKError) -> ServiceCall? {
    var operations: [RecordOperation] = []
    var refused: [(CKRecord, CKError)] = []
    for record in recordsToSave ?? [] {
      do throws(CKError) {
        operations.append(try RecordOperation(saving: record, policy: savePolicy))
        sent.append(.save(record))
      } catch {
        refused.append((record, error))
      }
    }
    for recordID in recordIDsToDelete ?? [] {
      operations.append(RecordOperation(kind: .forceDelete, recordID: recordID.model))
      sent.append(.delete(recordID))
    }
    for (record, error) in refused { finish(record, .failure(error)) }
    if isAtomic && !refused.isEmpty {
      for item in sent { fail(item, CKError(.batchRequestFailed, "another record failed")) }
      return nil
    }
    guard !operations.isEmpty else { return nil }
    var request = ModifyRecordsRequest(operations: operations, isAtomic: isAtomic)
    request.clientChangeTokenData = clientChangeTokenData
    return call(
      "records/modify", body: request.body(context: messageContext),
      isIdempotent: operations.allSatisfy { $0.kind != .create && $0.kind != .update })
  }

  override func receive(_ answer: ServiceExchange.Answer) throws(CKError) -> ServiceCall? {
    let context = messageContext
    let response = try read { () throws(ServiceError) in
      try RecordsResponse(parsing: answer.body, context: context)
    }
    for (item, result) in try pair(sent, with: response.records) {
      switch (item, result) {
      case (.save(let record), .success(.record(let saved))):
        let saved = CKRecord(saved)
        perRecordProgressBlock?(record, 1)
        finish(record, .success(saved))
      case (.delete(let recordID), .success(.deleted)):
        deletedRecordIDs.append(recordID)
        perRecordDeleteBlock?(recordID, .success(()))
      case (.save(let record), .failure(let failed)):
        finish(record, .failure(CKError(failed.error, savedRecord: record)))
      case (.delete, .failure(let failed)):
        fail(item, CKError(failed.error))
      case (_, .success):
        fail(item, CKError(.internalError, "the server's answer is for another operation"))
      }
    }
    return nil
  }

  override func conclude(_ error: CKError?) {
    modifyRecordsResultBlock?(error.map { .failure($0) } ?? .success(()))
    formerCompletionBlock?(
      savedRecords, deletedRecordIDs, error ?? itemErrors.partialFailure)
  }

  private func fail(_ item: Item, _ error: CKError) {
    switch item {
    case .save(let record):
      finish(record, .failure(error))
    case .delete(let recordID):
      itemErrors.add(error, for: recordID)
      perRecordDeleteBlock?(recordID, .failure(error))
    }
  }

  private func finish(_ record: CKRecord, _ result: Result<CKRecord, CKError>) {
    switch result {
    case .success(let saved):
      savedRecords.append(saved)
      perRecordSaveBlock?(record.recordID, .success(saved))
      formerPerRecordBlock?(saved, nil)
    case .failure(let error):
      itemErrors.add(error, for: record.recordID)
      perRecordSaveBlock?(record.recordID, .failure(error))
      formerPerRecordBlock?(record, error)
    }
  }
}

extension RecordOperation {
  /// The operation that saves `record` under `policy`. Only a record that was fetched or saved has
  /// a change tag; without one, `ifServerRecordUnchanged` means that the server has none.
  init(
    saving record: CKRecord, policy: CKModifyRecordsOperation.RecordSavePolicy
  ) throws(CKError) {
    let kind: Kind =
      switch (policy, record.recordChangeTag) {
      case (.ifServerRecordUnchanged, nil): .create
      case (.ifServerRecordUnchanged, _): .update
      case (.changedKeys, _), (.allKeys, _): .forceUpdate
      }
    let changes = try record.changes()
    let model = kind == .create || policy == .allKeys ? try record.model() : changes.record
    var fields: [String: RecordValue?] = model.fields.mapValues { .some($0) }
    for key in changes.removedKeys { fields.updateValue(nil, forKey: key) }
    self.init(
      kind: kind, recordID: model.recordID, recordType: model.recordType,
      recordChangeTag: kind == .update ? model.recordChangeTag : nil, fields: fields,
      parent: changes.isParentChanged ? .some(model.parent) : nil,
      shareContent: (record as? CKShare)?.sharing.withLock { $0.model })
  }
}
