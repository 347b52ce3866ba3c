internal import CloudKitModel

extension CKDatabaseOperation {
  /// Apple's framework knows no change feed of the public database, and an app may rest on that.
  /// ``PetrelFetchPublicChangesOperation`` reads the server's own.
  func checkHasFeed() throws(CKError) {
    guard database?.databaseScope == .public else { return }
    throw CKError(
      .badDatabase,
      "the public database has no change feed for this operation; read it with "
        + "PetrelFetchPublicChangesOperation, query its records, or subscribe to them")
  }

  /// Hands over the changes of a page in their order, each saved record once its assets are there.
  ///
  /// - Parameter next: the call that follows; nil ends the operation.
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
