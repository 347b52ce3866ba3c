internal import CloudKitModel

extension CKDatabaseOperation {
  /// Checks that the operation's database is not the public one.
  ///
  /// Apple's framework has no change feed for the public database, and an app may rely on the
  /// error. ``PetrelFetchPublicChangesOperation`` reads the public feed that Petrel's server has.
  ///
  /// - Throws: `badDatabase` for the public database.
  func checkHasFeed() throws(CKError) {
    guard database?.databaseScope == .public else { return }
    throw CKError(
      .badDatabase,
      "this operation cannot read the public database; use "
        + "PetrelFetchPublicChangesOperation, query its records, or subscribe to them")
  }

  /// Calls `saved` or `deleted` for each change of a page, in the server's order. A saved record is
  /// reported after its assets have been downloaded.
  ///
  /// - Parameters:
  ///   - saved: called for each saved record. The error is `assetNotAvailable` when the server does
  ///     not have a file any more.
  ///   - next: called after all changes. It returns the next call; `nil` ends the operation.
  /// - Returns: the call that downloads the first asset. If there is no asset to download, the
  ///   result of `next`.
  func report(
    _ changes: [RecordChange], saved: @escaping (CKRecord, CKError?) -> Void,
    deleted: @escaping (RecordID, CKRecord.RecordType) -> Void,
    then next: @escaping () throws(CKError) -> ServiceCall?
  ) throws(CKError) -> ServiceCall? {
    var remaining = changes[...]
    func reportDeletions() {
      while case .deleted(let recordID, let recordType) = remaining.first {
        deleted(recordID, recordType)
        remaining.removeFirst()
      }
    }
    let records = changes.compactMap { change in
      if case .saved(let model) = change { CKRecord(model) } else { nil }
    }
    return try downloadAssets(of: records) { record, error in
      reportDeletions()
      saved(record, error)
      remaining.removeFirst()
    } then: { () throws(CKError) in
      reportDeletions()
      return try next()
    }
  }
}
