internal import CloudKitModel
internal import WebServices

/// An operation that saves and deletes records, and uploads the files of their assets.
///
/// The server accepts at most 400 saves and deletions together in one operation. A larger operation
/// fails with `limitExceeded`; split it into several.
///
/// A record may stand in the operation once. An operation that saves or deletes a record twice, or
/// saves and deletes it, fails with `invalidArguments` before it sends anything.
///
/// An error of a single record goes to the block of that record. If an atomic change of a custom zone
/// failed, the result of the operation is `partialFailure` with the errors by record ID; otherwise it
/// is success, and only the deprecated ``modifyRecordsCompletionBlock`` gets the errors together.
///
/// The operation uploads the files of assets before it saves the records. A record fails with
/// `assetFileNotFound` if a file does not exist. It fails with `assetFileModified` if a file
/// changes between the start of the operation and the end of its upload. ``isAtomic`` says what
/// happens to the other items then.
///
/// If a save fails with `serverRecordChanged`, the operation downloads the assets of the server's record
/// before it reports the failure. If that is not possible, the record has its assets without files.
///
/// ```swift
/// let operation = CKModifyRecordsOperation(recordsToSave: [note], recordIDsToDelete: [oldID])
/// operation.savePolicy = .changedKeys
/// operation.perRecordSaveBlock = { recordID, result in … }
/// operation.modifyRecordsResultBlock = { result in … }
/// database.add(operation)
/// ```
open class CKModifyRecordsOperation: CKDatabaseOperation, @unchecked Sendable {
  /// The choice what a save does if the server's record differs from the local one.
  public typealias RecordSavePolicy = CKRecordSavePolicy

  /// The records to save. The blocks get new objects, which have the server's new change tags. The
  /// saved objects themselves get the change tags too, and a ``CKShare`` its URL and participants.
  open var recordsToSave: [CKRecord]?
  /// The IDs of the records to delete. A deletion ignores change tags.
  open var recordIDsToDelete: [CKRecord.ID]?
  /// The choice what a save does if the server's record differs from the local one;
  /// `.ifServerRecordUnchanged` unless set.
  open var savePolicy = RecordSavePolicy.ifServerRecordUnchanged
  /// Whether all changes of a custom zone are made or none; true unless set.
  ///
  /// If an item of the zone fails, the other saves and deletions of the zone fail with
  /// `batchRequestFailed`. The server may have refused the item, or the operation could not send
  /// it, for example because the upload of an asset failed. Items of other zones are not affected.
  ///
  /// In the default zone each item succeeds or fails alone. The same holds in all zones if the
  /// property is false.
  open var isAtomic = true
  /// Data of the program that identifies these changes; nil unless set.
  ///
  /// A later fetch of zone changes by this device returns the data, so that the program sees that
  /// the server has the changes. At most 10,000 bytes are allowed.
  open var clientChangeTokenData: Data?

  /// The block that the operation calls with rising fractions below 1, while the assets of a record
  /// are uploaded. The block gets 1.0 when the record is saved.
  open var perRecordProgressBlock: ((CKRecord, Double) -> Void)?
  /// The block that the operation calls with the result of each record to save, before
  /// ``modifyRecordsResultBlock``. A success has the record as the server saved it.
  public var perRecordSaveBlock: ((CKRecord.ID, Result<CKRecord, any Error>) -> Void)?
  /// The block that the operation calls with the result of each record to delete, before
  /// ``modifyRecordsResultBlock``.
  public var perRecordDeleteBlock: ((CKRecord.ID, Result<Void, any Error>) -> Void)?
  /// The block that the operation calls once, after the blocks of the records.
  ///
  /// The result is a failure if the whole request failed. It is also a failure, `partialFailure`, if
  /// ``isAtomic`` is true and an item of a custom zone failed: nothing of that zone was changed then.
  public var modifyRecordsResultBlock: ((Result<Void, any Error>) -> Void)?
  /// The block that the operation calls for each record to save, after ``perRecordSaveBlock``. On
  /// failure the record is the one that the program passed.
  @available(*, deprecated, message: "Use perRecordSaveBlock")
  open var perRecordCompletionBlock: ((CKRecord, (any Error)?) -> Void)? {
    get { formerPerRecordBlock }
    set { formerPerRecordBlock = newValue }
  }
  /// The deprecated block, for code that must not cause its warning.
  var formerPerRecordBlock: ((CKRecord, (any Error)?) -> Void)?
  /// The block that the operation calls once, after ``modifyRecordsResultBlock``, with the saved
  /// records and the deleted IDs. The error is `partialFailure` if some records failed; its
  /// ``CKPartialErrorsByItemIDKey`` has the errors by record ID.
  @available(*, deprecated, message: "Use modifyRecordsResultBlock")
  open var modifyRecordsCompletionBlock: (([CKRecord]?, [CKRecord.ID]?, (any Error)?) -> Void)? {
    get { formerCompletionBlock }
    set { formerCompletionBlock = newValue }
  }
  /// The deprecated block, for code that must not cause its warning.
  var formerCompletionBlock: (([CKRecord]?, [CKRecord.ID]?, (any Error)?) -> Void)?

  /// An item of the request: a save with its uploaded files, or a deletion.
  private enum Item {
    case save(AssetUploader.Save)
    case delete(CKRecord.ID)
  }

  /// The upload of the files. It retains this operation; setting it to nil breaks the cycle.
  private var upload: AssetUploader?
  /// The items in the order of the request. The server answers in the same order.
  private var sent: [Item] = []
  private var savedRecords: [CKRecord] = []
  private var deletedRecordIDs: [CKRecord.ID] = []
  private var itemErrors = ItemErrors()
  /// The records whose saves failed with a conflict. The operation reports them at its end, when the
  /// assets of the server's records are downloaded.
  private var conflicts: [(record: CKRecord, error: CKError)] = []
  /// Whether nothing of a custom zone was changed, because one of its items failed.
  private var hasFailedZone = false

  /// Makes an operation that saves and deletes records. Saves come before deletions.
  public convenience init(
    recordsToSave: [CKRecord]? = nil, recordIDsToDelete: [CKRecord.ID]? = nil
  ) {
    self.init()
    self.recordsToSave = recordsToSave
    self.recordIDsToDelete = recordIDsToDelete
  }

  /// The custom zones of which nothing is sent, because an item failed and the operation is atomic.
  private var failedZones: Set<CKRecordZone.ID> = []

  override func firstCall() throws(CKError) -> ServiceCall? {
    try checkRecordsDiffer()
    var saves: [AssetUploader.Save] = []
    var refused: [(CKRecord, CKError)] = []
    failedZones = []
    for record in recordsToSave ?? [] {
      do throws(CKError) {
        saves.append(try AssetUploader.Save(of: record, policy: savePolicy))
      } catch {
        refused.append((record, error))
      }
    }
    saves = refuse(refused, of: saves)
    let context = messageContext
    let upload = AssetUploader(of: saves) { [self] record, fraction in
      perRecordProgressBlock?(record, fraction)
    } makeCall: { [self] request in
      call("assets/upload", body: request.body(context: context))
    } then: { [self] () throws(CKError) in
      modifyCall()
    }
    self.upload = upload
    return try upload.proceed()
  }

  /// Checks that no record stands twice in the operation. Public code looks for the beginnings of the
  /// texts, which are those of Apple's framework.
  ///
  /// - Throws: `invalidArguments` with the first record that does.
  private func checkRecordsDiffer() throws(CKError) {
    var saved: Set<CKRecord.ID> = []
    for recordID in (recordsToSave ?? []).map(\.recordID) {
      guard saved.insert(recordID).inserted else {
        throw CKError(
          .invalidArguments,
          "You can't save the same record twice: recordsToSave has several records with the ID "
            + "'\(recordID.model)'")
      }
    }
    var deleted: Set<CKRecord.ID> = []
    for recordID in recordIDsToDelete ?? [] {
      guard !saved.contains(recordID) else {
        throw CKError(
          .invalidArguments,
          "You can't save and delete the same record ('\(recordID.model)') in a single operation")
      }
      guard deleted.insert(recordID).inserted else {
        throw CKError(
          .invalidArguments,
          "You can't delete the same record ('\(recordID.model)') twice in a single operation")
      }
    }
  }

  /// Fails the records that cannot be sent. If ``isAtomic`` is set, the other saves and deletions
  /// of their custom zones fail with `batchRequestFailed`.
  ///
  /// - Returns: The saves that are still to be sent.
  private func refuse(
    _ refused: [(CKRecord, CKError)], of saves: [AssetUploader.Save]
  ) -> [AssetUploader.Save] {
    for (record, error) in refused { finish(record, .failure(error)) }
    let zones = Set(refused.map(\.0.recordID.zoneID).filter { isAtomic && $0 != .default })
    let error = CKError(.batchRequestFailed, "another record of the zone failed")
    for save in saves where zones.contains(save.record.recordID.zoneID) {
      finish(save.record, .failure(error))
    }
    for recordID in recordIDsToDelete ?? [] where zones.contains(recordID.zoneID) {
      fail(.delete(recordID), error)
    }
    failedZones.formUnion(zones)
    return saves.filter { !zones.contains($0.record.recordID.zoneID) }
  }

  /// Returns the call that saves the records whose assets are uploaded, and deletes
  /// ``recordIDsToDelete``; nil if nothing is left to do.
  private func modifyCall() -> ServiceCall? {
    let saves = upload?.saves ?? []
    let good = refuse(
      saves.compactMap { save in save.failure.map { (save.record, $0) } },
      of: saves.filter { $0.failure == nil })
    var operations = good.map(\.operation)
    sent = good.map { .save($0) }
    for recordID in recordIDsToDelete ?? [] where !failedZones.contains(recordID.zoneID) {
      operations.append(RecordOperation(kind: .forceDelete, recordID: recordID.model))
      sent.append(.delete(recordID))
    }
    guard !operations.isEmpty else { return nil }
    // The server carries out a request with an ID once, even if it arrives several times.
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
        save.record.update(from: saved, after: save)
        perRecordProgressBlock?(save.record, 1)
        finish(save.record, .success(saved))
      case (.delete(let recordID), .success(.deleted)):
        deletedRecordIDs.append(recordID)
        perRecordDeleteBlock?(recordID, .success(()))
      case (.save(let save), .failure(let failed)):
        let error = CKError(failed.error, savedRecord: save.record)
        if error.serverRecord?.assets().isEmpty ?? true {
          finish(save.record, .failure(error))
        } else {
          conflicts.append((save.record, error))
        }
      case (.delete, .failure(let failed)):
        fail(item, CKError(failed.error))
      case (_, .success):
        fail(
          item,
          CKError(
            .internalError, "the server answered a save as a deletion, or a deletion as a save"))
      }
    }
    return try downloadAssets(
      of: conflicts.compactMap(\.error.serverRecord), isOptional: true, deliver: { _, _ in })
  }

  override func conclude(_ error: CKError?) {
    // The upload retains this operation; this breaks the cycle.
    upload = nil
    for (record, error) in conflicts { finish(record, .failure(error)) }
    let partialFailure = itemErrors.partialFailure
    let failure = error ?? (hasFailedZone ? partialFailure : nil)
    modifyRecordsResultBlock?(failure.map { .failure($0) } ?? .success(()))
    formerCompletionBlock?(savedRecords, deletedRecordIDs, error ?? partialFailure)
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
      note(error, of: recordID)
      perRecordDeleteBlock?(recordID, .failure(error))
    }
  }

  private func note(_ error: CKError, of recordID: CKRecord.ID) {
    itemErrors.add(error, for: recordID)
    if isAtomic, recordID.zoneID.zoneName != CKRecordZone.ID.defaultZoneName {
      hasFailedZone = true
    }
  }

  private func finish(_ record: CKRecord, _ result: Result<CKRecord, CKError>) {
    switch result {
    case .success(let saved):
      savedRecords.append(saved)
      perRecordSaveBlock?(record.recordID, .success(saved))
      formerPerRecordBlock?(saved, nil)
    case .failure(let error):
      note(error, of: record.recordID)
      perRecordSaveBlock?(record.recordID, .failure(error))
      formerPerRecordBlock?(record, error)
    }
  }
}

extension RecordOperation {
  /// Makes the operation of `records/modify` that saves `record` under `policy`.
  ///
  /// Only a record that was fetched or saved has a change tag. Without one,
  /// `ifServerRecordUnchanged` becomes a creation, which fails if the server has a record with this
  /// ID.
  ///
  /// - Parameter asset: The stored form of an asset; nil if the server does not have it.
  init(
    saving record: CKRecord, policy: CKModifyRecordsOperation.RecordSavePolicy,
    asset: (CKAsset) -> Asset? = { $0.storedAsset }
  ) throws(CKError) {
    let kind: Kind =
      switch policy {
      case .changedKeys, .allKeys: .forceUpdate
      case .ifServerRecordUnchanged: record.recordChangeTag == nil ? .create : .update
      // Overwrites nothing that the program has not seen.
      @unknown default: record.recordChangeTag == nil ? .create : .update
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
