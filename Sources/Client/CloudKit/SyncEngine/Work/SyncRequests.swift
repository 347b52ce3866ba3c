/// The requests of a sync engine to the server.
struct SyncRequests: Sendable {
  let database: CKDatabase

  /// One page of the database's feed.
  typealias DatabasePage = (
    modifications: [CKDatabase.DatabaseChange.Modification],
    deletions: [CKDatabase.DatabaseChange.Deletion], changeToken: CKServerChangeToken,
    moreComing: Bool
  )

  /// The results of the items of a request.
  struct Results<ID: Hashable, Value> {
    var saves: [ID: Result<Value, any Error>]
    var deletions: [ID: Result<Void, any Error>]
    /// The error of the whole request, for the items without a result.
    var failure: CKError?

    func save(of id: ID) -> Result<Value, CKError> { result(saves[id]) }

    func deletion(of id: ID) -> Result<Void, CKError> { result(deletions[id]) }

    /// - Throws: The error of the whole request, or `partialFailure` with the errors of the changes by
    ///   record or zone ID.
    func check<Change: PendingChange>(_ errors: [Change: CKError]) throws
    where Change.Target == ID {
      if let failure { throw failure }
      var items = ItemErrors()
      for (change, error) in errors { items.add(error, for: change.target) }
      if let error = items.partialFailure { throw error }
    }

    private func result<Item>(_ result: Result<Item, any Error>?) -> Result<Item, CKError> {
      let missing = CKError(.internalError, "the server's answer has no result of the item")
      return result?.mapError { CKError(anyOf: $0) } ?? .failure(failure ?? missing)
    }
  }

  // MARK: The account

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
    try await CKOperation.result {
      database.startFetchingChanges(
        since: token.map { CKServerChangeToken(syncToken: $0) }, group: group, $0)
    }
  }

  func page(
    of zoneID: CKRecordZone.ID, since token: String?, _ group: CKOperationGroup
  ) async throws -> FetchedRecordChanges {
    try await CKOperation.result {
      database.startFetchingChanges(
        inZoneWith: zoneID,
        .init(previousServerChangeToken: token.map { CKServerChangeToken(syncToken: $0) }),
        group: group, $0)
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
    // `partialFailure` repeats the results of the items.
    return Results(
      saves: saves.results, deletions: deletions.results,
      failure: failure?.code == .partialFailure ? nil : failure)
  }

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
