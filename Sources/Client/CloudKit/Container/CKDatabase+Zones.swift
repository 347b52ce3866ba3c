extension CKDatabase {
  // MARK: One zone

  /// Fetches a zone.
  ///
  /// - Parameter completionHandler: called on a background queue. A zone that does not exist gives
  ///   `zoneNotFound`.
  public func fetch(
    withRecordZoneID zoneID: CKRecordZone.ID,
    completionHandler: @escaping (CKRecordZone?, (any Error)?) -> Void
  ) {
    startFetching(zoneID) { completionHandler($0.value, $0.error) }
  }

  /// Returns a zone with its capabilities.
  ///
  /// - Throws: `zoneNotFound` when the zone does not exist.
  @discardableResult
  public func recordZone(for zoneID: CKRecordZone.ID) async throws -> CKRecordZone {
    try await CKOperation.result { self.startFetching(zoneID, $0) }
  }

  /// Saves a custom zone. Only the private database can have custom zones; in another database the
  /// save fails with `badDatabase`.
  ///
  /// Save a zone before you save records in it. Saving an existing zone changes nothing.
  ///
  /// - Parameter completionHandler: called on a background queue with the zone and its
  ///   capabilities.
  public func save(
    _ zone: CKRecordZone,
    completionHandler: @escaping (CKRecordZone?, (any Error)?) -> Void
  ) {
    startSaving(zone) { completionHandler($0.value, $0.error) }
  }

  /// Saves a custom zone. Only the private database can have custom zones; in another database the
  /// save fails with `badDatabase`.
  ///
  /// Save a zone before you save records in it. Saving an existing zone changes nothing.
  ///
  /// - Returns: the zone with its capabilities.
  /// - Throws: `quotaExceeded` when the database has as many zones as the server permits.
  @discardableResult
  public func save(_ zone: CKRecordZone) async throws -> CKRecordZone {
    try await CKOperation.result { self.startSaving(zone, $0) }
  }

  /// Deletes a custom zone and all its records.
  ///
  /// - Parameter completionHandler: called on a background queue with the ID. A zone that does not
  ///   exist gives `zoneNotFound`, the default zone gives `invalidArguments`.
  public func delete(
    withRecordZoneID zoneID: CKRecordZone.ID,
    completionHandler: @escaping (CKRecordZone.ID?, (any Error)?) -> Void
  ) {
    startDeleting(zoneID) { completionHandler($0.value, $0.error) }
  }

  /// Deletes a custom zone and all its records.
  ///
  /// - Returns: the ID of the zone.
  /// - Throws: `zoneNotFound` when the zone does not exist, `invalidArguments` for the default
  ///   zone.
  @discardableResult
  public func deleteRecordZone(withID zoneID: CKRecordZone.ID) async throws -> CKRecordZone.ID {
    try await CKOperation.result { self.startDeleting(zoneID, $0) }
  }

  // MARK: Several zones

  /// Fetches all zones of this database. The default zone is one of them, except in the shared
  /// database.
  ///
  /// - Parameter completionHandler: called on a background queue with the zones.
  public func fetchAllRecordZones(
    completionHandler: @escaping ([CKRecordZone]?, (any Error)?) -> Void
  ) {
    startFetchingAllZones { completionHandler($0.value, $0.error) }
  }

  /// Returns all zones of this database. The default zone is one of them, except in the shared
  /// database.
  @discardableResult
  public func allRecordZones() async throws -> [CKRecordZone] {
    try await CKOperation.result { self.startFetchingAllZones($0) }
  }

  /// Fetches zones by their IDs.
  ///
  /// - Parameter completionHandler: called on a background queue with a result for each zone. A
  ///   zone that does not exist has `zoneNotFound`.
  @preconcurrency
  public func fetch(
    withRecordZoneIDs zoneIDs: [CKRecordZone.ID],
    completionHandler:
      @escaping @Sendable (
        Result<[CKRecordZone.ID: Result<CKRecordZone, any Error>], any Error>
      ) -> Void
  ) {
    startFetching(zoneIDs, completionHandler)
  }

  /// Returns zones by their IDs.
  ///
  /// - Returns: a result for each zone. A zone that does not exist has `zoneNotFound`.
  /// - Throws: an error only when the whole request fails.
  public func recordZones(
    for ids: [CKRecordZone.ID]
  ) async throws -> [CKRecordZone.ID: Result<CKRecordZone, any Error>] {
    try await CKOperation.result { self.startFetching(ids, $0) }
  }

  /// Saves and deletes custom zones in one request. Each zone succeeds or fails alone.
  ///
  /// - Parameters:
  ///   - recordZonesToSave: the zones to save.
  ///   - recordZoneIDsToDelete: the IDs of the zones to delete. The records of these zones are
  ///     deleted too.
  ///   - completionHandler: called on a background queue with a result for each zone.
  @preconcurrency
  public func modifyRecordZones(
    saving recordZonesToSave: [CKRecordZone], deleting recordZoneIDsToDelete: [CKRecordZone.ID],
    completionHandler:
      @escaping @Sendable (
        Result<
          (
            saveResults: [CKRecordZone.ID: Result<CKRecordZone, any Error>],
            deleteResults: [CKRecordZone.ID: Result<Void, any Error>]
          ), any Error
        >
      ) -> Void
  ) {
    startModifying(recordZonesToSave, recordZoneIDsToDelete, completionHandler)
  }

  /// Saves and deletes custom zones in one request. Each zone succeeds or fails alone.
  ///
  /// - Parameters:
  ///   - recordZonesToSave: the zones to save.
  ///   - recordZoneIDsToDelete: the IDs of the zones to delete. The records of these zones are
  ///     deleted too.
  /// - Returns: a result for each zone.
  /// - Throws: an error only when the whole request fails.
  @discardableResult
  public func modifyRecordZones(
    saving recordZonesToSave: [CKRecordZone], deleting recordZoneIDsToDelete: [CKRecordZone.ID]
  ) async throws -> (
    saveResults: [CKRecordZone.ID: Result<CKRecordZone, any Error>],
    deleteResults: [CKRecordZone.ID: Result<Void, any Error>]
  ) {
    try await CKOperation.result {
      self.startModifying(recordZonesToSave, recordZoneIDsToDelete, $0)
    }
  }
}

// MARK: - The operations

extension CKDatabase {
  @discardableResult
  private func startFetching(
    _ zoneID: CKRecordZone.ID, _ completion: @escaping Completion<CKRecordZone>
  ) -> CKOperation {
    let items = ItemResults<CKRecordZone.ID, CKRecordZone>()
    let operation = CKFetchRecordZonesOperation(recordZoneIDs: [zoneID])
    operation.perRecordZoneResultBlock = { items.add($0, $1) }
    operation.fetchRecordZonesResultBlock = { completion(items.single($0)) }
    return run(operation)
  }

  @discardableResult
  private func startFetching(
    _ zoneIDs: [CKRecordZone.ID],
    _ completion: @escaping Completion<[CKRecordZone.ID: Result<CKRecordZone, any Error>]>
  ) -> CKOperation {
    let items = ItemResults<CKRecordZone.ID, CKRecordZone>()
    let operation = CKFetchRecordZonesOperation(recordZoneIDs: zoneIDs)
    operation.perRecordZoneResultBlock = { items.add($0, $1) }
    operation.fetchRecordZonesResultBlock = { completion(items.all($0)) }
    return run(operation)
  }

  @discardableResult
  private func startFetchingAllZones(
    _ completion: @escaping Completion<[CKRecordZone]>
  ) -> CKOperation {
    let zones = Locked<[Result<CKRecordZone, any Error>]>([])
    let operation = CKFetchRecordZonesOperation.fetchAllRecordZonesOperation()
    operation.perRecordZoneResultBlock = { _, result in zones.withLock { $0.append(result) } }
    operation.fetchRecordZonesResultBlock = { whole in
      // If one zone cannot be read, the whole fetch fails, because a list without it would look
      // complete.
      completion(whole.flatMap { Result { try zones.withLock { $0 }.map { try $0.get() } } })
    }
    return run(operation)
  }

  @discardableResult
  private func startSaving(
    _ zone: CKRecordZone, _ completion: @escaping Completion<CKRecordZone>
  ) -> CKOperation {
    let items = ItemResults<CKRecordZone.ID, CKRecordZone>()
    let operation = CKModifyRecordZonesOperation(recordZonesToSave: [zone])
    operation.perRecordZoneSaveBlock = { items.add($0, $1) }
    operation.modifyRecordZonesResultBlock = { completion(items.single($0)) }
    return run(operation)
  }

  @discardableResult
  private func startDeleting(
    _ zoneID: CKRecordZone.ID, _ completion: @escaping Completion<CKRecordZone.ID>
  ) -> CKOperation {
    let items = ItemResults<CKRecordZone.ID, Void>()
    let operation = CKModifyRecordZonesOperation(recordZoneIDsToDelete: [zoneID])
    operation.perRecordZoneDeleteBlock = { items.add($0, $1) }
    operation.modifyRecordZonesResultBlock = { completion(items.single($0).map { zoneID }) }
    return run(operation)
  }

  @discardableResult
  private func startModifying(
    _ zones: [CKRecordZone], _ zoneIDs: [CKRecordZone.ID],
    _ completion:
      @escaping Completion<
        (
          saveResults: [CKRecordZone.ID: Result<CKRecordZone, any Error>],
          deleteResults: [CKRecordZone.ID: Result<Void, any Error>]
        )
      >
  ) -> CKOperation {
    let saves = ItemResults<CKRecordZone.ID, CKRecordZone>()
    let deletions = ItemResults<CKRecordZone.ID, Void>()
    let operation = CKModifyRecordZonesOperation(
      recordZonesToSave: zones, recordZoneIDsToDelete: zoneIDs)
    operation.perRecordZoneSaveBlock = { saves.add($0, $1) }
    operation.perRecordZoneDeleteBlock = { deletions.add($0, $1) }
    operation.modifyRecordZonesResultBlock = { whole in
      completion(whole.map { (saves.results, deletions.results) })
    }
    return run(operation)
  }
}
