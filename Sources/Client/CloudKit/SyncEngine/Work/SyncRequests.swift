/// The requests of a sync engine to the server.
struct SyncRequests: Sendable {
  let database: CKDatabase

  /// One page of the database's feed.
  struct DatabasePage: Sendable {
    var changed: [CKRecordZone.ID]
    var deleted: [CKRecordZone.ID]
    var token: String
    var moreComing: Bool
  }

  /// One page of a zone's feed.
  struct ZonePage: Sendable {
    var changed: [CKRecord]
    var deleted: [CKDatabase.RecordZoneChange.Deletion]
    /// The error of a record whose assets could not be downloaded; the record is not in `changed`.
    var assetError: CKError?
    var token: String
    var moreComing: Bool
  }

  /// The results of the items of a request.
  struct Results<ID: Hashable, Value> {
    var saves: [ID: Result<Value, any Error>]
    var deletions: [ID: Result<Void, any Error>]
    /// The error of the whole request, for the items without a result.
    var failure: CKError?

    func save(of id: ID) -> Result<Value, CKError> { result(saves[id]) }

    func deletion(of id: ID) -> Result<Void, CKError> { result(deletions[id]) }

    private func result<Item>(_ result: Result<Item, any Error>?) -> Result<Item, CKError> {
      let missing = CKError(.internalError, "the server's answer has no result of the item")
      return result?.mapError { CKError(anyOf: $0) } ?? .failure(failure ?? missing)
    }
  }

  // MARK: The account

  /// Returns the record name of the user; nil without an account.
  func user() async throws -> String? {
    do {
      let recordID: CKRecord.ID = try await CKOperation.result { completion in
        let operation = FetchUserOperation()
        operation.completion = completion
        return database.run(operation)
      }
      return recordID.recordName
    } catch CKError.notAuthenticated {
      return nil
    }
  }

  // MARK: Feeds

  func databasePage(
    since token: String?, _ group: CKOperationGroup
  ) async throws -> DatabasePage {
    let changed = Collected<CKRecordZone.ID>()
    let deleted = Collected<CKRecordZone.ID>()
    return try await CKOperation.result { completion in
      let operation = CKFetchDatabaseChangesOperation(
        previousServerChangeToken: token.map { CKServerChangeToken(syncToken: $0) })
      operation.group = group
      operation.fetchAllChanges = false
      operation.recordZoneWithIDChangedBlock = { changed.items.append($0) }
      operation.recordZoneWithIDWasDeletedBlock = { deleted.items.append($0) }
      operation.fetchDatabaseChangesResultBlock = { result in
        completion(
          result.map {
            DatabasePage(
              changed: changed.items, deleted: deleted.items, token: $0.serverChangeToken.syncToken,
              moreComing: $0.moreComing)
          })
      }
      return database.run(operation)
    }
  }

  func page(
    of zoneID: CKRecordZone.ID, since token: String?, _ group: CKOperationGroup
  ) async throws -> ZonePage {
    let changed = Collected<CKRecord>()
    let deleted = Collected<CKDatabase.RecordZoneChange.Deletion>()
    let assetErrors = Collected<CKError>()
    let zone = ItemResults<CKRecordZone.ID, (CKServerChangeToken, Bool)>()
    return try await CKOperation.result { completion in
      let operation = CKFetchRecordZoneChangesOperation(
        recordZoneIDs: [zoneID],
        configurationsByRecordZoneID: [
          zoneID: .init(previousServerChangeToken: token.map { CKServerChangeToken(syncToken: $0) })
        ])
      operation.group = group
      operation.fetchAllChanges = false
      operation.recordWasChangedBlock = { _, result in
        switch result {
        case .success(let record): changed.items.append(record)
        // The server does not have the file any more, so the record would never come.
        case .failure(CKError.assetNotAvailable): break
        case .failure(let error): assetErrors.items.append(CKError(anyOf: error))
        }
      }
      operation.recordWithIDWasDeletedBlock = {
        deleted.items.append(.init(recordID: $0, recordType: $1))
      }
      operation.recordZoneFetchResultBlock = { zoneID, result in
        zone.add(zoneID, result.map { ($0.serverChangeToken, $0.moreComing) })
      }
      operation.fetchRecordZoneChangesResultBlock = { whole in
        completion(
          zone.single(whole).map { token, moreComing in
            ZonePage(
              changed: changed.items, deleted: deleted.items, assetError: assetErrors.items.first,
              token: token.syncToken, moreComing: moreComing)
          })
      }
      return database.run(operation)
    }
  }

  // MARK: Changes

  func modify(
    _ changes: [CKSyncEngine.PendingDatabaseChange], _ group: CKOperationGroup
  ) async -> Results<CKRecordZone.ID, CKRecordZone> {
    let saves = ItemResults<CKRecordZone.ID, CKRecordZone>()
    let deletions = ItemResults<CKRecordZone.ID, Void>()
    let failure = await failure { completion in
      let operation = CKModifyRecordZonesOperation()
      operation.group = group
      for change in changes {
        switch change {
        case .saveZone(let zone):
          operation.recordZonesToSave = (operation.recordZonesToSave ?? []) + [zone]
        case .deleteZone(let zoneID):
          operation.recordZoneIDsToDelete = (operation.recordZoneIDsToDelete ?? []) + [zoneID]
        }
      }
      operation.perRecordZoneSaveBlock = { saves.add($0, $1) }
      operation.perRecordZoneDeleteBlock = { deletions.add($0, $1) }
      operation.modifyRecordZonesResultBlock = completion
      return database.run(operation)
    }
    return Results(saves: saves.results, deletions: deletions.results, failure: failure)
  }

  func modify(
    _ batch: CKSyncEngine.RecordZoneChangeBatch, _ group: CKOperationGroup
  ) async -> Results<CKRecord.ID, CKRecord> {
    let saves = ItemResults<CKRecord.ID, CKRecord>()
    let deletions = ItemResults<CKRecord.ID, Void>()
    let failure = await failure { completion in
      let operation = CKModifyRecordsOperation(
        recordsToSave: batch.recordsToSave, recordIDsToDelete: batch.recordIDsToDelete)
      operation.group = group
      operation.isAtomic = batch.atomicByZone
      operation.perRecordSaveBlock = { saves.add($0, $1) }
      operation.perRecordDeleteBlock = { deletions.add($0, $1) }
      operation.modifyRecordsResultBlock = completion
      return database.run(operation)
    }
    return Results(saves: saves.results, deletions: deletions.results, failure: failure)
  }

  /// Runs an operation, and returns the error of the whole operation.
  private func failure(
    _ start: (@escaping (Result<Void, any Error>) -> Void) -> CKOperation
  ) async -> CKError? {
    do {
      try await CKOperation.result(start)
      return nil
    } catch {
      return CKError(anyOf: error)
    }
  }
}
