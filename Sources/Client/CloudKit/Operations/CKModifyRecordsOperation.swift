internal import CloudKitModel
internal import WebServices

/// Saves and deletes records.
///
/// At most 400 records and deletions, else `limitExceeded`: split them in two. An error of a single
/// record goes to its block, and the result is success; only the deprecated
/// ``modifyRecordsCompletionBlock`` gets them together, as `partialFailure`.
///
/// The files of assets are uploaded first. A record fails with `assetFileNotFound` when a file is
/// not there, and with `assetFileModified` when one changes between the operation's start and the
/// end of its upload.
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

  /// Called with growing fractions while a record's assets are uploaded, and with 1.0 when the
  /// record is saved.
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
    case save(AssetUpload.Save)
    case delete(CKRecord.ID)
  }

  private var upload: AssetUpload?
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
    var saves: [AssetUpload.Save] = []
    var refused: [(CKRecord, CKError)] = []
    for record in recordsToSave ?? [] {
      do throws(CKError) {
        saves.append(try AssetUpload.Save(of: record, policy: savePolicy))
      } catch {
        refused.append((record, error))
      }
    }
    if endsBatch(saves, refused) { return nil }
    let context = messageContext
    let upload = AssetUpload(of: saves) { [self] record, fraction in
      perRecordProgressBlock?(record, fraction)
    } makeCall: { [self] request in
      call("assets/upload", body: request.body(context: context))
    } then: { [self] () throws(CKError) in
      modifyCall()
    }
    self.upload = upload
    return try upload.proceed()
  }

  /// Ends the records that were refused, and all of an atomic batch that has such; tells whether
  /// it did.
  private func endsBatch(
    _ saves: [AssetUpload.Save], _ refused: [(CKRecord, CKError)]
  ) -> Bool {
    for (record, error) in refused { finish(record, .failure(error)) }
    guard isAtomic && !refused.isEmpty else { return false }
    let error = CKError(.batchRequestFailed, "another record failed")
    for save in saves { finish(save.record, .failure(error)) }
    for recordID in recordIDsToDelete ?? [] { fail(.delete(recordID), error) }
    return true
  }

  /// The call that saves the records whose files are with the server.
  private func modifyCall() -> ServiceCall? {
    let saves = upload?.saves ?? []
    let good = saves.filter { $0.failure == nil }
    if endsBatch(good, saves.compactMap { save in save.failure.map { (save.record, $0) } }) {
      return nil
    }
    var operations = good.map(\.operation)
    sent = good.map { .save($0) }
    for recordID in recordIDsToDelete ?? [] {
      operations.append(RecordOperation(kind: .forceDelete, recordID: recordID.model))
      sent.append(.delete(recordID))
    }
    guard !operations.isEmpty else { return nil }
    // Under its ID the server carries out a request once, however often it comes.
    var request = ModifyRecordsRequest(
      operations: operations, isAtomic: isAtomic, requestID: mayRepeatCalls ? operationID : nil)
    request.clientChangeTokenData = clientChangeTokenData
    return call("records/modify", body: request.body(context: messageContext))
  }

  override func receive(_ answer: ServiceExchange.Answer) throws(CKError) -> ServiceCall? {
    let context = messageContext
    let response = try read { () throws(ServiceError) in
      try RecordsResponse(parsing: answer.body, context: context)
    }
    for (item, result) in try pair(sent, with: response.records) {
      switch (item, result) {
      case (.save(let save), .success(.record(let saved))):
        let saved = CKRecord(saved, asset: { save.asset(savedAs: $0) })
        perRecordProgressBlock?(save.record, 1)
        finish(save.record, .success(saved))
      case (.delete(let recordID), .success(.deleted)):
        deletedRecordIDs.append(recordID)
        perRecordDeleteBlock?(recordID, .success(()))
      case (.save(let save), .failure(let failed)):
        finish(save.record, .failure(CKError(failed.error, savedRecord: save.record)))
      case (.delete, .failure(let failed)):
        fail(item, CKError(failed.error))
      case (_, .success):
        fail(item, CKError(.internalError, "the server's answer is for another operation"))
      }
    }
    return nil
  }

  override func conclude(_ error: CKError?) {
    // It refers to this operation.
    upload = nil
    modifyRecordsResultBlock?(error.map { .failure($0) } ?? .success(()))
    formerCompletionBlock?(
      savedRecords, deletedRecordIDs, error ?? itemErrors.partialFailure)
  }

  override func releaseBlocks() {
    super.releaseBlocks()
    upload = nil
    perRecordProgressBlock = nil
    perRecordSaveBlock = nil
    perRecordDeleteBlock = nil
    modifyRecordsResultBlock = nil
    formerPerRecordBlock = nil
    formerCompletionBlock = nil
  }

  private func fail(_ item: Item, _ error: CKError) {
    switch item {
    case .save(let save):
      finish(save.record, .failure(error))
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
    saving record: CKRecord, policy: CKModifyRecordsOperation.RecordSavePolicy,
    asset: (CKAsset) -> Asset? = { $0.storedAsset }
  ) throws(CKError) {
    let kind: Kind =
      switch (policy, record.recordChangeTag) {
      case (.ifServerRecordUnchanged, nil): .create
      case (.ifServerRecordUnchanged, _): .update
      case (.changedKeys, _), (.allKeys, _): .forceUpdate
      }
    let changes = try record.changes(asset: asset)
    let model =
      kind == .create || policy == .allKeys ? try record.model(asset: asset) : changes.record
    var fields: RecordFields<RecordValue?> = model.fields.mapValues { .some($0) }
    for key in changes.removedKeys { fields.updateValue(nil, forKey: key) }
    self.init(
      kind: kind, recordID: model.recordID, recordType: model.recordType,
      recordChangeTag: kind == .update ? model.recordChangeTag : nil, fields: fields,
      parent: changes.isParentChanged ? .some(model.parent) : nil,
      shareContent: (record as? CKShare)?.sharing.withLock { $0.model })
    encryptedFields = model.encryptedFields
  }
}
