internal import CloudKitModel
internal import WebServices

/// An operation that saves and deletes custom zones of the private database.
///
/// Only the private database can have custom zones; in another one the operation fails with
/// `badDatabase`. Deleting a zone deletes all its records. Saving a zone that exists succeeds and
/// changes nothing. At most 400 saves and deletions together are allowed in one operation; a larger
/// operation fails with `limitExceeded`.
///
/// Errors of single zones go to their blocks; the result of the operation is then still success.
/// Only the deprecated ``modifyRecordZonesCompletionBlock`` gets them together, as
/// `partialFailure`.
open class CKModifyRecordZonesOperation: CKDatabaseOperation, @unchecked Sendable {
  /// The zones to save. The server uses only their IDs.
  open var recordZonesToSave: [CKRecordZone]?
  /// The IDs of the zones to delete.
  open var recordZoneIDsToDelete: [CKRecordZone.ID]?

  /// The block that the operation calls with the result of each zone to save. The saved zone has
  /// its ``CKRecordZone/capabilities``.
  public var perRecordZoneSaveBlock: ((CKRecordZone.ID, Result<CKRecordZone, any Error>) -> Void)?
  /// The block that the operation calls with the result of each zone to delete.
  public var perRecordZoneDeleteBlock: ((CKRecordZone.ID, Result<Void, any Error>) -> Void)?
  /// The block that the operation calls once, after the blocks of the zones. The result is a
  /// failure only if the whole request failed.
  public var modifyRecordZonesResultBlock: ((Result<Void, any Error>) -> Void)?
  /// The block that the operation calls once, after ``modifyRecordZonesResultBlock``, with the
  /// saved zones and the deleted IDs. The error is `partialFailure` if some zones failed; its
  /// ``CKPartialErrorsByItemIDKey`` has the errors by zone ID.
  @available(*, deprecated, message: "Use modifyRecordZonesResultBlock")
  open var modifyRecordZonesCompletionBlock:
    (([CKRecordZone]?, [CKRecordZone.ID]?, (any Error)?) -> Void)?
  {
    get { formerCompletionBlock }
    set { formerCompletionBlock = newValue }
  }
  /// The deprecated block, for code that must not cause its warning.
  var formerCompletionBlock: (([CKRecordZone]?, [CKRecordZone.ID]?, (any Error)?) -> Void)?

  /// The operations in the order of the request. The server answers in the same order.
  private var sent: [ZoneOperation] = []
  private var savedZones: [CKRecordZone] = []
  private var deletedZoneIDs: [CKRecordZone.ID] = []
  private var itemErrors = ItemErrors()

  /// Makes an operation that saves and deletes zones. Saves come before deletions.
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
      case (.create(let zoneID), .success(.zone(let answered, let isAtomic, _, let share))):
        finishSave(
          CKRecordZone.ID(zoneID),
          .success(CKRecordZone(answered, isAtomic: isAtomic, share: share)))
      case (.delete(let zoneID), .success(.deleted)):
        finishDeletion(CKRecordZone.ID(zoneID), .success(()))
      case (.delete(let zoneID), .failure(let failed))
      where answer.mayRepeatWork && failed.error.code == .zoneNotFound:
        // An earlier attempt, whose answer was lost, deleted the zone.
        finishDeletion(CKRecordZone.ID(zoneID), .success(()))
      case (.create(let zoneID), .failure(let failed)):
        finishSave(CKRecordZone.ID(zoneID), .failure(CKError(failed.error)))
      case (.delete(let zoneID), .failure(let failed)):
        finishDeletion(CKRecordZone.ID(zoneID), .failure(CKError(failed.error)))
      case (_, .success):
        throw CKError(
          .internalError, "the server answered a save as a deletion, or a deletion as a save")
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
  /// Makes a zone as the server describes it.
  ///
  /// Custom zones are atomic and have all capabilities;
  /// default zones are not atomic and have none.
  convenience init(_ zoneID: ZoneID, isAtomic: Bool, share: Reference?) {
    self.init(
      zoneID: ID(zoneID), capabilities: isAtomic ? .all : [],
      share: share.map {
        CKRecord.Reference(
          recordID: CKRecord.ID(recordName: $0.recordName, zoneID: ID(zoneID)), action: .none)
      })
  }
}
