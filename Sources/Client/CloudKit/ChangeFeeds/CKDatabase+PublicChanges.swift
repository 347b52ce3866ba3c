extension CKDatabase {
  /// Returns one page of the records that have changed in the public database, or were deleted from it, since the app
  /// got a token.
  ///
  /// This method is an addition of Petrel. ``PetrelFetchPublicChangesOperation`` describes the feed and lists the
  /// errors.
  ///
  /// ```swift
  /// var token = savedToken
  /// repeat {
  ///   let changes = try await database.petrelPublicChanges(since: token, recordTypes: ["Earthquake"])
  ///   apply(changes.modificationResultsByID, changes.deletions)
  ///   token = changes.changeToken
  ///   if !changes.moreComing { break }
  /// } while true
  /// ```
  ///
  /// - Parameters:
  ///   - changeToken: the token that came with the previous page; `nil` starts at the beginning of the feed.
  ///   - recordTypes: the types of the records to fetch; `nil` means all.
  ///   - desiredKeys: the fields to fetch; `nil` means all. An empty list means only the system fields, such as the
  ///     change tag.
  ///   - resultsLimit: the largest number of changes in the page; `nil` lets the server choose. The server returns at
  ///     most 200.
  /// - Throws: `changeTokenExpired` when the server no longer keeps deletions that are newer than the token. Delete the
  ///   cached records then, and start with `nil`. `badDatabase` for a private or shared database.
  public func petrelPublicChanges(
    since changeToken: CKServerChangeToken?, recordTypes: [CKRecord.RecordType]? = nil,
    desiredKeys: [CKRecord.FieldKey]? = nil, resultsLimit: Int? = nil
  ) async throws -> (
    modificationResultsByID: [CKRecord.ID: Result<
      CKDatabase.RecordZoneChange.Modification, any Error
    >],
    deletions: [CKDatabase.RecordZoneChange.Deletion], changeToken: CKServerChangeToken,
    moreComing: Bool
  ) {
    let operation = PetrelFetchPublicChangesOperation(previousServerChangeToken: changeToken)
    operation.recordTypes = recordTypes
    operation.desiredKeys = desiredKeys
    operation.resultsLimit = resultsLimit ?? 0
    operation.fetchAllChanges = false
    let records = Collected<(id: CKRecord.ID, result: Result<CKRecord, any Error>)>()
    let deletions = Collected<RecordZoneChange.Deletion>()
    operation.recordWasChangedBlock = { records.items.append(($0, $1)) }
    operation.recordWithIDWasDeletedBlock = {
      deletions.items.append(.init(recordID: $0, recordType: $1))
    }
    let changes: FetchedRecordChanges = try await CKOperation.result { completion in
      operation.fetchPublicChangesResultBlock = { result in
        completion(
          result.map { token, moreComing in
            FetchedRecordChanges(
              records: records.items, deletions: deletions.items, changeToken: token,
              moreComing: moreComing)
          })
      }
      return self.run(operation)
    }
    return (
      changes.modificationResultsByID, changes.deletions, changes.changeToken,
      changes.moreComing
    )
  }
}
