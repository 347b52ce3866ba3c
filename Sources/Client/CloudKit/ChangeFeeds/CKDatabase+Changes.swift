extension CKDatabase {
  /// Fetches one page of the zones that changed or were deleted since a token.
  ///
  /// The private and the shared database have this feed; the public database gives `badDatabase`.
  /// The default zone is never in the feed. When `moreComing` is true, call again with the new
  /// token.
  ///
  /// - Parameters:
  ///   - changeToken: the token of the last page; `nil` fetches everything.
  ///   - resultsLimit: the largest number of zones in the page; `nil` lets the server choose. The
  ///     server gives at most 200.
  ///   - completionHandler: called on a background queue with the page, or with
  ///     `changeTokenExpired` when the token is too old.
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

  /// Returns one page of the zones that changed or were deleted since a token.
  ///
  /// ```swift
  /// var token = savedToken
  /// while true {
  ///   let page = try await database.databaseChanges(since: token)
  ///   // Fetch the changes of the modified zones; delete the records of the deleted ones.
  ///   token = page.changeToken
  ///   if !page.moreComing { break }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - changeToken: the token of the last page; `nil` fetches everything.
  ///   - resultsLimit: the largest number of zones in the page; `nil` lets the server choose. The
  ///     server gives at most 200.
  /// - Throws: `changeTokenExpired` when the token is too old: delete the cached data and start
  ///   with `nil`. `badDatabase` for the public database.
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

  /// Fetches one page of the records of a zone that changed or were deleted since a token.
  ///
  /// The feed has each record once, in its latest state or as deleted. When `moreComing` is true,
  /// call again with the new token.
  ///
  /// - Parameters:
  ///   - zoneID: a custom zone; the default zone gives `invalidArguments`.
  ///   - changeToken: the token of the last page; `nil` fetches everything.
  ///   - desiredKeys: the fields to fetch; `nil` means all, an empty list only the system fields.
  ///   - resultsLimit: the largest number of changes in the page; `nil` lets the server choose. The
  ///     server gives at most 200.
  ///   - completionHandler: called on a background queue. A record whose asset cannot be downloaded
  ///     has an error of its own.
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

  /// Returns one page of the records of a zone that changed or were deleted since a token.
  ///
  /// The feed has each record once, in its latest state or as deleted. When `moreComing` is true,
  /// call again with the new token. A record whose asset cannot be downloaded has an error of its
  /// own.
  ///
  /// - Parameters:
  ///   - zoneID: a custom zone; the default zone gives `invalidArguments`.
  ///   - changeToken: the token of the last page; `nil` fetches everything.
  ///   - desiredKeys: the fields to fetch; `nil` means all, an empty list only the system fields.
  ///   - resultsLimit: the largest number of changes in the page; `nil` lets the server choose. The
  ///     server gives at most 200.
  /// - Throws: `changeTokenExpired` when the token is too old: delete the cached records and start
  ///   with `nil`. `userDeletedZone` for a zone that was deleted, `zoneNotFound` for a zone that
  ///   never existed.
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

  /// Returns the results in the type that the convenience methods have.
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

/// One page of a record feed, as the convenience methods return it.
struct FetchedRecordChanges: Sendable {
  var records: [CKRecord.ID: Result<CKRecord, any Error>]
  var deletions: [CKDatabase.RecordZoneChange.Deletion]
  var changeToken: CKServerChangeToken
  var moreComing: Bool
}

/// A list to which an operation's blocks append, for one completion.
///
/// The class is `@unchecked Sendable` because only the operation's callback queue, which is serial,
/// uses `items`.
final class Collected<Item>: @unchecked Sendable {
  // Only the operation's callback queue uses this variable.
  var items: [Item] = []
}
