internal import CloudKitModel
internal import WebServices

/// Saves and deletes custom zones of the private database. Deleting a zone deletes its records.
open class CKModifyRecordZonesOperation: CKDatabaseOperation, @unchecked Sendable {
  open var recordZonesToSave: [CKRecordZone]?
  open var recordZoneIDsToDelete: [CKRecordZone.ID]?

  public var perRecordZoneSaveBlock: ((CKRecordZone.ID, Result<CKRecordZone, any Error>) -> Void)?
  public var perRecordZoneDeleteBlock: ((CKRecordZone.ID, Result<Void, any Error>) -> Void)?
  public var modifyRecordZonesResultBlock: ((Result<Void, any Error>) -> Void)?
  /// Called last.
  @available(*, deprecated, message: "Use modifyRecordZonesResultBlock")
  open var modifyRecordZonesCompletionBlock:
    (([CKRecordZone]?, [CKRecordZone.ID]?, (any Error)?) -> Void)?
  {
    get { formerCompletionBlock }
    set { formerCompletionBlock = newValue }
  }
  var formerCompletionBlock: (([CKRecordZone]?, [CKRecordZone.ID]?, (any Error)?) -> Void)?

  private var sent: [ZoneOperation] = []
  private var savedZones: [CKRecordZone] = []
  private var deletedZoneIDs: [CKRecordZone.ID] = []
  private var itemErrors = ItemErrors()

  public convenience init(
    recordZonesToSave: [CKRecordZone]? = nil, recordZoneIDsToDelete: [CKRecordZone.ID]? = nil
  ) {
    self.init()
    self.recordZonesToSave = recordZonesToSave
    self.recordZoneIDsToDelete = recordZoneIDsToDelete
  }

  override func firstCall() throws(CKError) -> ServiceCall? {
    sent =
      (recordZonesToSave ?? []).map { .create($0.zoneID.model) }
      + (recordZoneIDsToDelete ?? []).map { .delete($0.model) }
    guard !sent.isEmpty else { return nil }
    let request = ModifyZonesRequest(operations: sent)
    return call("zones/modify", body: request.body(context: messageContext))
  }

  override func receive(_ answer: ServiceExchange.Answer) throws(CKError) -> ServiceCall? {
    let context = messageContext
    let response = try read { () throws(ServiceError) in
      try ZonesResponse(parsing: answer.body, context: context)
    }
    for (operation, result) in try pair(sent, with: response.zones) {
      switch (operation, result) {
      case (.create(let zoneID), .success(.zone(let answered, let isAtomic, _))):
        finishSave(CKRecordZone.ID(zoneID), .success(CKRecordZone(answered, isAtomic: isAtomic)))
      case (.delete(let zoneID), .success(.deleted)):
        finishDeletion(CKRecordZone.ID(zoneID), .success(()))
      case (.delete(let zoneID), .failure(let failed))
      where answer.mayRepeatWork && failed.error.code == .zoneNotFound:
        // An attempt whose answer was lost deleted it.
        finishDeletion(CKRecordZone.ID(zoneID), .success(()))
      case (.create(let zoneID), .failure(let failed)):
        finishSave(CKRecordZone.ID(zoneID), .failure(CKError(failed.error)))
      case (.delete(let zoneID), .failure(let failed)):
        finishDeletion(CKRecordZone.ID(zoneID), .failure(CKError(failed.error)))
      case (_, .success):
        throw CKError(.internalError, "the server's answer is for another operation")
      }
    }
    return nil
  }

  private func finishSave(_ zoneID: CKRecordZone.ID, _ result: Result<CKRecordZone, CKError>) {
    switch result {
    case .success(let zone): savedZones.append(zone)
    case .failure(let error): itemErrors.add(error, for: zoneID)
    }
    perRecordZoneSaveBlock?(zoneID, result.mapError { $0 })
  }

  private func finishDeletion(_ zoneID: CKRecordZone.ID, _ result: Result<Void, CKError>) {
    switch result {
    case .success: deletedZoneIDs.append(zoneID)
    case .failure(let error): itemErrors.add(error, for: zoneID)
    }
    perRecordZoneDeleteBlock?(zoneID, result.mapError { $0 })
  }

  override func conclude(_ error: CKError?) {
    modifyRecordZonesResultBlock?(error.map { .failure($0) } ?? .success(()))
    formerCompletionBlock?(
      savedZones, deletedZoneIDs, error ?? itemErrors.partialFailure)
  }

  override func releaseBlocks() {
    super.releaseBlocks()
    perRecordZoneSaveBlock = nil
    perRecordZoneDeleteBlock = nil
    modifyRecordZonesResultBlock = nil
    formerCompletionBlock = nil
  }
}

extension CKRecordZone {
  /// A zone as the server describes it: custom zones are the atomic ones, and can do everything.
  convenience init(_ zoneID: ZoneID, isAtomic: Bool) {
    self.init(zoneID: ID(zoneID), capabilities: isAtomic ? .all : [], share: nil)
  }
}
