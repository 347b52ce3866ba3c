extension CKDatabase {
  /// Fetches one page of the zones that have changed or were deleted since the app got a token.
  ///
  /// The private and the shared database have this feed; for the public database the error is
  /// `badDatabase`. The default zone is never in the feed. If `moreComing` is true, call the method
  /// again with the new token.
  ///
  /// - Parameters:
  ///   - changeToken: the token that came with the previous page; `nil` starts at the beginning of
  ///     the feed.
  ///   - resultsLimit: the largest number of zones in the page; `nil` lets the server choose. The
  ///     server returns at most 200.
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

  /// Returns one page of the zones that have changed or were deleted since the app got a token.
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
  ///   - changeToken: the token that came with the previous page; `nil` starts at the beginning of
  ///     the feed.
  ///   - resultsLimit: the largest number of zones in the page; `nil` lets the server choose. The
  ///     server returns at most 200.
  /// - Throws: `changeTokenExpired` when the token is too old. Delete the cached data then, and
  ///   start with `nil`. `badDatabase` for the public database.
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

  /// Fetches one page of the records that have changed in a zone, or were deleted from it, since
  /// the app got a token.
  ///
  /// The feed has one entry for each record: the record's latest state, or its deletion. If
  /// `moreComing` is true, call the method again with the new token.
  ///
  /// - Parameters:
  ///   - zoneID: a custom zone; the default zone gives `invalidArguments`.
  ///   - changeToken: the token that came with the previous page; `nil` starts at the beginning of
  ///     the feed.
  ///   - desiredKeys: the fields to fetch; `nil` means all. An empty list means only the system
  ///     fields, such as the change tag.
  ///   - resultsLimit: the largest number of changes in the page; `nil` lets the server choose. The
  ///     server returns at most 200.
  ///   - completionHandler: called on a background queue. If the server no longer has an asset of a
  ///     record, the result of that record is `assetNotAvailable`.
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
          ($0.modificationResultsByID, $0.deletions, $0.changeToken, $0.moreComing)
        })
    }
  }

  /// Returns one page of the records that have changed in a zone, or were deleted from it, since
  /// the app got a token.
  ///
  /// The feed has one entry for each record: the record's latest state, or its deletion. If
  /// `moreComing` is true, call the method again with the new token. If the server no longer has an
  /// asset of a record, the result of that record is `assetNotAvailable`.
  ///
  /// - Parameters:
  ///   - zoneID: a custom zone; the default zone gives `invalidArguments`.
  ///   - changeToken: the token that came with the previous page; `nil` starts at the beginning of
  ///     the feed.
  ///   - desiredKeys: the fields to fetch; `nil` means all. An empty list means only the system
  ///     fields, such as the change tag.
  ///   - resultsLimit: the largest number of changes in the page; `nil` lets the server choose. The
  ///     server returns at most 200.
  /// - Throws: `changeTokenExpired` when the token is too old. Delete the cached records then, and
  ///   start with `nil`. `userDeletedZone` for a zone that was deleted outside of the app,
  ///   `zoneNotFound` for another zone that does not exist.
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
      changes.modificationResultsByID, changes.deletions, changes.changeToken,
      changes.moreComing
    )
  }

}

// MARK: - The operations

extension CKDatabase {
  /// Starts an operation that fetches one page of the database's feed.
  @discardableResult
  func startFetchingChanges(
    since changeToken: CKServerChangeToken?, _ resultsLimit: Int? = nil,
    group: CKOperationGroup? = nil,
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
    operation.group = group
    operation.resultsLimit = resultsLimit ?? 0
    operation.fetchAllChanges = false
    operation.recordZoneWithIDChangedBlock = {
      modifications.items.append(.init(zoneID: $0))
    }
    operation.recordZoneWithIDWasDeletedBlock = {
      deletions.items.append(.init(zoneID: $0, reason: .deleted))
    }
    operation.recordZoneWithIDWasPurgedBlock = {
      deletions.items.append(.init(zoneID: $0, reason: .purged))
    }
    operation.fetchDatabaseChangesResultBlock = { result in
      completion(
        result.map {
          (modifications.items, deletions.items, $0.serverChangeToken, $0.moreComing)
        })
    }
    return run(operation)
  }

  /// Starts an operation that fetches one page of a zone's feed.
  @discardableResult
  func startFetchingChanges(
    inZoneWith zoneID: CKRecordZone.ID,
    _ configuration: CKFetchRecordZoneChangesConfiguration, group: CKOperationGroup? = nil,
    _ completion: @escaping Completion<FetchedRecordChanges>
  ) -> CKOperation {
    let records = Collected<(id: CKRecord.ID, result: Result<CKRecord, any Error>)>()
    let deletions = Collected<RecordZoneChange.Deletion>()
    let zone = ItemResults<CKRecordZone.ID, (CKServerChangeToken, Bool)>()
    let operation = CKFetchRecordZoneChangesOperation(
      recordZoneIDs: [zoneID], configurationsByRecordZoneID: [zoneID: configuration])
    operation.group = group
    operation.fetchAllChanges = false
    operation.recordWasChangedBlock = { records.items.append(($0, $1)) }
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
            records: records.items, deletions: deletions.items, changeToken: token,
            moreComing: moreComing)
        })
    }
    return run(operation)
  }
}

/// One page of a record feed.
struct FetchedRecordChanges: Sendable {
  /// The changed records, in the order of the feed. A record whose asset could not be downloaded has
  /// an error.
  var records: [(id: CKRecord.ID, result: Result<CKRecord, any Error>)]
  var deletions: [CKDatabase.RecordZoneChange.Deletion]
  var changeToken: CKServerChangeToken
  var moreComing: Bool
  var modificationResultsByID:
    [CKRecord.ID: Result<CKDatabase.RecordZoneChange.Modification, any Error>]
  {
    Dictionary(
      records.map { ($0.id, $0.result.map { .init(record: $0) }) }, uniquingKeysWith: { $1 })
  }
}

/// A list to which the blocks of one operation append their items.
///
/// The class is `@unchecked Sendable` because only the operation's callback queue, which is serial,
/// uses `items`.
final class Collected<Item>: @unchecked Sendable {
  var items: [Item] = []
}
