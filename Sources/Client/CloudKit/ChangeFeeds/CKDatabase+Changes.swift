extension CKDatabase {
  /// Fetches which zones changed, as far as one answer goes.
  ///
  /// - Parameters:
  ///   - changeToken: where to go on; nil fetches everything.
  ///   - resultsLimit: zones at most; nil leaves it to the server.
  @preconcurrency
  public func fetchDatabaseChanges(
    since changeToken: CKServerChangeToken?, resultsLimit: Int? = nil,
    completionHandler:
      @escaping @Sendable (
        Result<
          (
            modifications: [CKDatabase.DatabaseChange.Modification],
            deletions: [CKDatabase.DatabaseChange.Deletion],
            changeToken: CKServerChangeToken, moreComing: Bool
          ), any Error
        >
      ) -> Void
  ) {
    startFetchingChanges(since: changeToken, resultsLimit, completionHandler)
  }

  /// Fetches which zones changed, as far as one answer goes.
  public func databaseChanges(
    since changeToken: CKServerChangeToken?, resultsLimit: Int? = nil
  ) async throws -> (
    modifications: [CKDatabase.DatabaseChange.Modification],
    deletions: [CKDatabase.DatabaseChange.Deletion], changeToken: CKServerChangeToken,
    moreComing: Bool
  ) {
    try await CKOperation.result {
      self.startFetchingChanges(since: changeToken, resultsLimit, $0)
    }
  }

  /// Fetches what became of a zone's records, as far as one answer goes.
  ///
  /// - Parameters:
  ///   - changeToken: where to go on; nil fetches everything.
  ///   - desiredKeys: the fields to fetch; nil means all, an empty list only the system fields.
  ///   - resultsLimit: changes at most; nil leaves it to the server.
  @preconcurrency
  public func fetchRecordZoneChanges(
    inZoneWith zoneID: CKRecordZone.ID, since changeToken: CKServerChangeToken?,
    desiredKeys: [CKRecord.FieldKey]? = nil, resultsLimit: Int? = nil,
    completionHandler:
      @escaping @Sendable (
        Result<
          (
            modificationResultsByID: [CKRecord.ID: Result<
              CKDatabase.RecordZoneChange.Modification, any Error
            >],
            deletions: [CKDatabase.RecordZoneChange.Deletion],
            changeToken: CKServerChangeToken, moreComing: Bool
          ), any Error
        >
      ) -> Void
  ) {
    startFetchingChanges(
      inZoneWith: zoneID,
      .init(
        previousServerChangeToken: changeToken, resultsLimit: resultsLimit,
        desiredKeys: desiredKeys)
    ) { result in
      completionHandler(
        result.map {
          (Self.modifications($0.records), $0.deletions, $0.changeToken, $0.moreComing)
        })
    }
  }

  /// Fetches what became of a zone's records, as far as one answer goes.
  public func recordZoneChanges(
    inZoneWith zoneID: CKRecordZone.ID, since changeToken: CKServerChangeToken?,
    desiredKeys: [CKRecord.FieldKey]? = nil, resultsLimit: Int? = nil
  ) async throws -> (
    modificationResultsByID: [CKRecord.ID: Result<
      CKDatabase.RecordZoneChange.Modification, any Error
    >],
    deletions: [CKDatabase.RecordZoneChange.Deletion], changeToken: CKServerChangeToken,
    moreComing: Bool
  ) {
    let changes: FetchedRecordChanges = try await CKOperation.result {
      self.startFetchingChanges(
        inZoneWith: zoneID,
        .init(
          previousServerChangeToken: changeToken, resultsLimit: resultsLimit,
          desiredKeys: desiredKeys), $0)
    }
    return (
      Self.modifications(changes.records), changes.deletions, changes.changeToken,
      changes.moreComing
    )
  }

  static func modifications(
    _ records: [CKRecord.ID: Result<CKRecord, any Error>]
  ) -> [CKRecord.ID: Result<CKDatabase.RecordZoneChange.Modification, any Error>] {
    records.mapValues { $0.map { RecordZoneChange.Modification(record: $0) } }
  }
}

// MARK: - The operations

extension CKDatabase {
  @discardableResult
  private func startFetchingChanges(
    since changeToken: CKServerChangeToken?, _ resultsLimit: Int?,
    _ completion:
      @escaping Completion<
        (
          modifications: [DatabaseChange.Modification], deletions: [DatabaseChange.Deletion],
          changeToken: CKServerChangeToken, moreComing: Bool
        )
      >
  ) -> CKOperation {
    let modifications = Collected<DatabaseChange.Modification>()
    let deletions = Collected<DatabaseChange.Deletion>()
    let operation = CKFetchDatabaseChangesOperation(previousServerChangeToken: changeToken)
    operation.resultsLimit = resultsLimit ?? 0
    operation.fetchAllChanges = false
    operation.recordZoneWithIDChangedBlock = {
      modifications.items.append(.init(zoneID: $0))
    }
    operation.recordZoneWithIDWasDeletedBlock = {
      deletions.items.append(.init(zoneID: $0, reason: .deleted))
    }
    operation.fetchDatabaseChangesResultBlock = { result in
      completion(
        result.map {
          (modifications.items, deletions.items, $0.serverChangeToken, $0.moreComing)
        })
    }
    return run(operation)
  }

  @discardableResult
  private func startFetchingChanges(
    inZoneWith zoneID: CKRecordZone.ID,
    _ configuration: CKFetchRecordZoneChangesConfiguration,
    _ completion: @escaping Completion<FetchedRecordChanges>
  ) -> CKOperation {
    let records = ItemResults<CKRecord.ID, CKRecord>()
    let deletions = Collected<RecordZoneChange.Deletion>()
    let zone = ItemResults<CKRecordZone.ID, (CKServerChangeToken, Bool)>()
    let operation = CKFetchRecordZoneChangesOperation(
      recordZoneIDs: [zoneID], configurationsByRecordZoneID: [zoneID: configuration])
    operation.fetchAllChanges = false
    operation.recordWasChangedBlock = { records.add($0, $1) }
    operation.recordWithIDWasDeletedBlock = {
      deletions.items.append(.init(recordID: $0, recordType: $1))
    }
    operation.recordZoneFetchResultBlock = { zoneID, result in
      zone.add(zoneID, result.map { ($0.serverChangeToken, $0.moreComing) })
    }
    operation.fetchRecordZoneChangesResultBlock = { whole in
      completion(
        zone.single(whole).map { token, moreComing in
          FetchedRecordChanges(
            records: records.results, deletions: deletions.items, changeToken: token,
            moreComing: moreComing)
        })
    }
    return run(operation)
  }
}

/// What one answer told of a zone's records.
struct FetchedRecordChanges: Sendable {
  var records: [CKRecord.ID: Result<CKRecord, any Error>]
  var deletions: [CKDatabase.RecordZoneChange.Deletion]
  var changeToken: CKServerChangeToken
  var moreComing: Bool
}

/// Collects what an operation tells of, as it comes, for one completion.
final class Collected<Item>: @unchecked Sendable {
  // Only used on the operation's callback queue.
  var items: [Item] = []
}
