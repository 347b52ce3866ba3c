/// The fetches of a sync engine.
extension SyncWorker {
  private typealias Context = CKSyncEngine.FetchChangesContext
  private typealias Options = CKSyncEngine.FetchChangesOptions

  /// Fetches the changes in the scope of the options.
  func fetch(_ context: CKSyncEngine.FetchChangesContext) async throws {
    try await emit(.willFetchChanges(.init(context: context)))
    var failure: (any Error)?
    do {
      try await fetchDatabase(context)
      try await fetchZones(context)
    } catch {
      failure = error
    }
    try await emit(.didFetchChanges(.init(context: context)))
    if let failure { throw failure }
  }

  /// Asks the delegate for the options of the next request.
  private func options(_ context: Context) async throws -> Options {
    try checkCancellation()
    return try await withDelegate { delegate, engine in
      await delegate.nextFetchChangesOptions(context, syncEngine: engine)
    }
  }

  // MARK: The database

  /// Reads the database's feed from the kept token to its end.
  ///
  /// Without a token, the feed names all zones that exist. A zone that the engine knows and the feed does
  /// not name was deleted while the token was not valid.
  private func fetchDatabase(_ context: Context) async throws {
    var token = state.values.withLock { $0.databaseToken }
    var vanished = token == nil ? knownZones : nil
    while true {
      let options = try await options(context)
      var page: SyncRequests.DatabasePage
      do {
        page = try await requests.databasePage(since: token, options.operationGroup)
      } catch CKError.changeTokenExpired where token != nil {
        token = nil
        state.update { $0.databaseToken = nil }
        vanished = knownZones
        continue
      }
      vanished?.subtract(page.changed)
      vanished?.subtract(page.deleted)
      if !page.moreComing, let vanished {
        page.deleted += vanished.sorted { $0.zoneName < $1.zoneName }
      }
      if !page.changed.isEmpty || !page.deleted.isEmpty {
        try await emit(
          .fetchedDatabaseChanges(
            .init(
              modifications: page.changed.map { .init(zoneID: $0) },
              deletions: page.deleted.map { .init(zoneID: $0, reason: .deleted) })))
      }
      token = page.token
      // Until a feed that began without a token is at its end, it may not have named all zones. A kept
      // token would say that it has.
      let keepsToken = vanished?.isEmpty ?? true || !page.moreComing
      state.update { [page] state in
        if keepsToken { state.databaseToken = page.token }
        for zoneID in page.changed { state.noteChanges(in: zoneID) }
        for zoneID in page.deleted { state.forget(zoneID) }
      }
      if !page.moreComing { return }
    }
  }

  private var knownZones: Set<CKRecordZone.ID> {
    state.values.withLock { Set($0.zones.keys) }
  }

  // MARK: Zones

  /// Fetches the zones with unfetched changes, one after the other.
  ///
  /// - Throws: `partialFailure` with the errors by zone ID. An error that concerns all zones, such as
  ///   that of the network, ends the fetch.
  private func fetchZones(_ context: Context) async throws {
    var errors = ItemErrors()
    var failed: Set<CKRecordZone.ID> = []
    while state.zoneIDsWithUnfetchedServerChanges.contains(where: { !failed.contains($0) }) {
      let options = try await options(context)
      let waiting = state.zoneIDsWithUnfetchedServerChanges.filter {
        options.scope.contains($0) && !failed.contains($0)
      }
      let prioritized = options.prioritizedZoneIDs.first { waiting.contains($0) }
      guard let zoneID = prioritized ?? waiting.first else { break }
      try await emit(.willFetchRecordZoneChanges(.init(zoneID: zoneID)))
      let error: CKError?
      do {
        error = try await fetchPages(of: zoneID, options, context)
      } catch let failure {
        error = CKError(anyOf: failure)
      }
      try await emit(.didFetchRecordZoneChanges(.init(zoneID: zoneID, error: error)))
      guard let error else { continue }
      if error.isPassing, error.code != .zoneBusy { throw error }
      failed.insert(zoneID)
      errors.add(error, for: zoneID)
    }
    if let error = errors.partialFailure { throw error }
  }

  /// Fetches the pages of a zone.
  ///
  /// - Returns: The error of a record whose assets could not be downloaded. The zone's token stays before
  ///   the page with the record, so the next fetch begins there.
  private func fetchPages(
    of zoneID: CKRecordZone.ID, _ first: Options, _ context: Context
  ) async throws -> CKError? {
    var options = first
    while true {
      let token = state.values.withLock { $0.zones[zoneID] ?? nil }
      let page: SyncRequests.ZonePage
      do {
        page = try await requests.page(of: zoneID, since: token, options.operationGroup)
      } catch CKError.changeTokenExpired where token != nil {
        state.update { $0.zones.updateValue(nil, forKey: zoneID) }
        options = try await self.options(context)
        continue
      } catch let error as CKError
        where error.code == .zoneNotFound || error.code == .userDeletedZone
      {
        // The feed of the database says whether the zone was deleted.
        try await fetchDatabase(context)
        return knownZones.contains(zoneID) ? error : nil
      }
      if !page.changed.isEmpty || !page.deleted.isEmpty {
        try await emit(
          .fetchedRecordZoneChanges(
            .init(
              modifications: page.changed.map { .init(record: $0) }, deletions: page.deleted)))
      }
      if let error = page.assetError { return error }
      state.update { state in
        if state.zones[zoneID] != nil { state.zones.updateValue(page.token, forKey: zoneID) }
        if !page.moreComing { state.noteFetched(zoneID) }
      }
      if !page.moreComing { return nil }
      options = try await self.options(context)
      if !options.scope.contains(zoneID) { return nil }
    }
  }
}
