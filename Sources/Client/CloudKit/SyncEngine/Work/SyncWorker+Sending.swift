/// The sends of a sync engine.
extension SyncWorker {
  private static let zonesPerRequest = 200

  /// Sends the pending changes in the scope of the options.
  ///
  /// The engine's own sends do nothing if nothing is pending.
  func send(_ context: CKSyncEngine.SendChangesContext) async throws {
    let isIdle = state.values.withLock {
      $0.recordChanges.isEmpty && $0.databaseChanges.isEmpty && !$0.hasPendingUntrackedChanges
    }
    if isIdle, context.reason == .scheduled { return }
    try await emit(.willSendChanges(.init(context: context)))
    var failure: (any Error)?
    do {
      try await sendAll(context)
    } catch {
      failure = error
    }
    try await emit(.didSendChanges(.init(context: context)))
    if let failure { throw failure }
  }

  private func sendAll(_ context: CKSyncEngine.SendChangesContext) async throws {
    while true {
      try await sendDatabaseChanges(context)
      try checkCancellation()
      let batch = try await withDelegate { delegate, engine in
        await delegate.nextRecordZoneChangeBatch(context, syncEngine: engine)
      }
      guard let batch, batch.count > 0 else { break }
      try await send(batch, context)
    }
    let isAll = context.options.scope == .all
    if isAll, state.hasPendingUntrackedChanges { state.hasPendingUntrackedChanges = false }
  }

  // MARK: Zones

  private func sendDatabaseChanges(_ context: CKSyncEngine.SendChangesContext) async throws {
    while true {
      try checkCancellation()
      let scope = context.options.scope
      let all = state.pendingDatabaseChanges.filter { scope.contains(zone: $0.target) }
      if all.isEmpty { return }
      let changes = Array(all.prefix(Self.zonesPerRequest))
      state.update { $0.databaseChanges.beginSending(changes) }
      let results = await requests.modify(changes, context.options.operationGroup)
      try await finish(changes, results)
    }
  }

  /// Passes the results of a request for zones to the delegate.
  private func finish(
    _ changes: [CKSyncEngine.PendingDatabaseChange],
    _ results: SyncRequests.Results<CKRecordZone.ID, CKRecordZone>
  ) async throws {
    var saved: [CKRecordZone] = []
    var failedSaves: [CKSyncEngine.Event.SentDatabaseChanges.FailedZoneSave] = []
    var deleted: [CKRecordZone.ID] = []
    var failedDeletes: [CKRecordZone.ID: CKError] = [:]
    var errors: [CKSyncEngine.PendingDatabaseChange: CKError] = [:]
    for change in changes {
      switch change {
      case .saveZone(let zone):
        switch results.save(of: zone.zoneID) {
        case .success(let zone): saved.append(zone)
        case .failure(let error):
          failedSaves.append(.init(zone: zone, error: error))
          errors[change] = error
        }
      case .deleteZone(let zoneID):
        switch results.deletion(of: zoneID) {
        case .success: deleted.append(zoneID)
        case .failure(let error):
          failedDeletes[zoneID] = error
          errors[change] = error
        }
      }
    }
    try await finish(
      changes, errors, in: \.databaseChanges,
      .sentDatabaseChanges(
        .init(
          savedZones: saved, failedZoneSaves: failedSaves, deletedZoneIDs: deleted,
          failedZoneDeletes: failedDeletes)))
    if !deleted.isEmpty {
      state.update { state in
        for zoneID in deleted { state.forget(zoneID) }
      }
    }
    // A feed that was never read does not name the records that were deleted before. So the engine reads
    // the feed of a new zone at once.
    if !saved.isEmpty { notePush() }
    try results.check(errors)
  }

  // MARK: Records

  private func send(
    _ batch: CKSyncEngine.RecordZoneChangeBatch, _ context: CKSyncEngine.SendChangesContext
  ) async throws {
    let changes = batch.changes
    state.update { $0.recordChanges.beginSending(changes) }
    if let error = refusal(of: changes, context.options.scope) {
      try await finish(batch, .init(saves: [:], deletions: [:], failure: error))
    } else {
      try await finish(batch, await requests.modify(batch, context.options.operationGroup))
    }
  }

  private func refusal(
    of changes: [CKSyncEngine.PendingRecordZoneChange],
    _ scope: CKSyncEngine.SendChangesOptions.Scope
  ) -> CKError? {
    let limit = CKSyncEngine.RecordZoneChangeBatch.changeLimit
    if changes.count > limit {
      return CKError(
        .limitExceeded,
        "the batch has \(changes.count) saves and deletions; at most \(limit) are allowed")
    }
    return changes.first { !scope.contains($0) }.map { change in
      CKError(
        .invalidArguments,
        "the batch has record '\(change.target.recordName)', which is not in the scope of the send: "
          + "\(scope)")
    }
  }

  /// Passes the results of a batch to the delegate.
  ///
  /// - Throws: The error of the request, or `partialFailure` with the errors by record ID.
  private func finish(
    _ batch: CKSyncEngine.RecordZoneChangeBatch,
    _ results: SyncRequests.Results<CKRecord.ID, CKRecord>
  ) async throws {
    var saved: [CKRecord] = []
    var failedSaves: [CKSyncEngine.Event.SentRecordZoneChanges.FailedRecordSave] = []
    var deleted: [CKRecord.ID] = []
    var failedDeletes: [CKRecord.ID: CKError] = [:]
    var errors: [CKSyncEngine.PendingRecordZoneChange: CKError] = [:]
    for record in batch.recordsToSave {
      switch results.save(of: record.recordID) {
      case .success(let record): saved.append(record)
      case .failure(let error):
        failedSaves.append(.init(record: record, error: error))
        errors[.saveRecord(record.recordID)] = error
      }
    }
    for recordID in batch.recordIDsToDelete {
      switch results.deletion(of: recordID) {
      case .success: deleted.append(recordID)
      case .failure(let error):
        failedDeletes[recordID] = error
        errors[.deleteRecord(recordID)] = error
      }
    }
    try await finish(
      batch.changes, errors, in: \.recordChanges,
      .sentRecordZoneChanges(
        .init(
          savedRecords: saved, failedRecordSaves: failedSaves, deletedRecordIDs: deleted,
          failedRecordDeletes: failedDeletes)))
    try results.check(errors)
  }

  // MARK: Both

  /// Passes the event of a request to the delegate.
  ///
  /// A change that is repeated is pending before the delegate handles the event. Another one is in
  /// flight until then, so that a stored state does not lose it.
  private func finish<Change>(
    _ changes: [Change], _ errors: [Change: CKError],
    in list: WritableKeyPath<SyncState, PendingChanges<Change>> & Sendable,
    _ event: CKSyncEngine.Event
  ) async throws {
    state.update { state in
      for change in changes where errors[change]?.isPassing ?? false {
        state[keyPath: list].endSending(change, isRetried: true)
      }
    }
    try await emit(event)
    state.update { state in
      for change in changes { state[keyPath: list].endSending(change, isRetried: false) }
    }
  }
}
