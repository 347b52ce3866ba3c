/// The fetches of a sync engine.
extension SyncWorker {
  private typealias Context = CKSyncEngine.FetchChangesContext
  private typealias Options = CKSyncEngine.FetchChangesOptions

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
      vanished?.subtract(page.modifications.map(\.zoneID))
      vanished?.subtract(page.deletions.map(\.zoneID))
      if !page.moreComing, let vanished {
        let zoneIDs = vanished.sorted { $0.zoneName < $1.zoneName }
        page.deletions += zoneIDs.map { .init(zoneID: $0, reason: .deleted) }
      }
      if !page.modifications.isEmpty || !page.deletions.isEmpty {
        try await emit(
          .fetchedDatabaseChanges(
            .init(modifications: page.modifications, deletions: page.deletions)))
      }
      token = page.changeToken.syncToken
      // Until a feed that began without a token is at its end, it may not have named all zones. A kept
      // token would say that it has.
      let keepsToken = vanished?.isEmpty ?? true || !page.moreComing
      state.update { [page] state in
        if keepsToken { state.databaseToken = page.changeToken.syncToken }
        for modification in page.modifications { state.noteChanges(in: modification.zoneID) }
        for deletion in page.deletions { state.forget(deletion.zoneID) }
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
    func isWaiting(_ zoneID: CKRecordZone.ID) -> Bool { !failed.contains(zoneID) }
    while state.values.withLock({ $0.unfetchedZones.contains(where: isWaiting) }) {
      let options = try await options(context)
      let next = state.values.withLock { state in
        options.prioritizedZoneIDs.first {
          state.unfetchedZones.contains($0) && options.scope.contains($0) && isWaiting($0)
        } ?? state.unfetchedZones.first { options.scope.contains($0) && isWaiting($0) }
      }
      guard let zoneID = next else { break }
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
      let page: FetchedRecordChanges
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
      let (modifications, assetError) = Self.modifications(page)
      if !modifications.isEmpty || !page.deletions.isEmpty {
        try await emit(
          .fetchedRecordZoneChanges(
            .init(modifications: modifications, deletions: page.deletions)))
      }
      if let assetError { return assetError }
      state.update { state in
        if state.zones[zoneID] != nil {
          state.zones.updateValue(page.changeToken.syncToken, forKey: zoneID)
        }
        if !page.moreComing { state.noteFetched(zoneID) }
      }
      if !page.moreComing { return nil }
      options = try await self.options(context)
      if !options.scope.contains(zoneID) { return nil }
    }
  }
  /// Returns the changed records of a page, and the error of a record whose assets could not be
  /// downloaded, which is not among them.
  private static func modifications(
    _ page: FetchedRecordChanges
  ) -> ([CKDatabase.RecordZoneChange.Modification], CKError?) {
    var modifications: [CKDatabase.RecordZoneChange.Modification] = []
    var assetError: CKError?
    for (_, result) in page.records {
      switch result {
      case .success(let record): modifications.append(.init(record: record))
      // The server does not have the file any more, so the record would never come.
      case .failure(CKError.assetNotAvailable): break
      case .failure(let error): assetError = assetError ?? CKError(anyOf: error)
      }
    }
    return (modifications, assetError)
  }
}
