extension CKDatabase {
  // MARK: One record

  /// Fetches a record with all its fields.
  ///
  /// - Parameter completionHandler: called on a background queue. A record that does not exist
  ///   gives `unknownItem`.
  public func fetch(
    withRecordID recordID: CKRecord.ID,
    completionHandler: @escaping (CKRecord?, (any Error)?) -> Void
  ) {
    startFetching(recordID) { completionHandler($0.value, $0.error) }
  }

  /// Returns a record with all its fields.
  ///
  /// - Throws: `unknownItem` when the record does not exist.
  @discardableResult
  public func record(for recordID: CKRecord.ID) async throws -> CKRecord {
    try await CKOperation.result { self.startFetching(recordID, $0) }
  }

  /// Saves a record, unless the server's record has changed since the client fetched it.
  ///
  /// - Parameter completionHandler: called on a background queue with a new record object, which
  ///   has the server's new change tag. If the server's record has changed, the error is
  ///   `serverRecordChanged`.
  public func save(
    _ record: CKRecord, completionHandler: @escaping (CKRecord?, (any Error)?) -> Void
  ) {
    startSaving(record) { completionHandler($0.value, $0.error) }
  }

  /// Saves a record, unless the server's record has changed since the client fetched it.
  ///
  /// ```swift
  /// do {
  ///   record = try await database.save(record)
  /// } catch let error as CKError where error.code == .serverRecordChanged {
  ///   // Apply the changes to error.serverRecord and save that record.
  /// }
  /// ```
  ///
  /// - Returns: a new record object, which has the server's new change tag. Use this object for the
  ///   next save.
  /// - Throws: `serverRecordChanged` when the server's record has changed, or when the server
  ///   already has a record with the ID of a new record.
  @discardableResult
  public func save(_ record: CKRecord) async throws -> CKRecord {
    try await CKOperation.result { self.startSaving(record, $0) }
  }

  /// Deletes a record. The deletion of a record that does not exist succeeds.
  ///
  /// - Parameter completionHandler: called on a background queue with the ID of the record.
  public func delete(
    withRecordID recordID: CKRecord.ID,
    completionHandler: @escaping (CKRecord.ID?, (any Error)?) -> Void
  ) {
    startDeleting(recordID) { completionHandler($0.value, $0.error) }
  }

  /// Deletes a record. The deletion of a record that does not exist succeeds.
  ///
  /// - Returns: the ID of the record.
  @discardableResult
  public func deleteRecord(withID recordID: CKRecord.ID) async throws -> CKRecord.ID {
    try await CKOperation.result { self.startDeleting(recordID, $0) }
  }

  // MARK: Several records

  /// Fetches records by their IDs.
  ///
  /// - Parameters:
  ///   - recordIDs: the IDs of the records.
  ///   - desiredKeys: the fields to fetch; `nil` means all. An empty list means only the system
  ///     fields, such as the change tag.
  ///   - completionHandler: called on a background queue with a result for each record. A record
  ///     that does not exist has `unknownItem`.
  @preconcurrency
  public func fetch(
    withRecordIDs recordIDs: [CKRecord.ID], desiredKeys: [CKRecord.FieldKey]? = nil,
    completionHandler:
      @escaping @Sendable (
        Result<[CKRecord.ID: Result<CKRecord, any Error>], any Error>
      ) -> Void
  ) {
    startFetching(recordIDs, desiredKeys, completionHandler)
  }

  /// Returns records by their IDs.
  ///
  /// - Parameters:
  ///   - ids: the IDs of the records.
  ///   - desiredKeys: the fields to fetch; `nil` means all. An empty list means only the system
  ///     fields, such as the change tag.
  /// - Returns: a result for each record. A record that does not exist has `unknownItem`.
  /// - Throws: an error only when the whole request fails.
  public func records(
    for ids: [CKRecord.ID], desiredKeys: [CKRecord.FieldKey]? = nil
  ) async throws -> [CKRecord.ID: Result<CKRecord, any Error>] {
    try await CKOperation.result { self.startFetching(ids, desiredKeys, $0) }
  }

  /// Saves and deletes records in one request.
  ///
  /// - Parameters:
  ///   - recordsToSave: the records to save. At most 400 saves and deletions together are allowed;
  ///     more of them fail with `limitExceeded`. A record may be saved or deleted once; otherwise
  ///     the call fails with `invalidArguments`.
  ///   - recordIDsToDelete: the IDs of the records to delete.
  ///   - savePolicy: the rule for a record that has changed on the server since the client fetched
  ///     it.
  ///   - atomically: whether no change of a custom zone is made when an item of the zone fails. The
  ///     handler gets `partialFailure` then. Changes in other zones can still succeed, and each item
  ///     of the default zone succeeds or fails alone.
  ///   - completionHandler: called on a background queue with a result for each item.
  @preconcurrency
  public func modifyRecords(
    saving recordsToSave: [CKRecord], deleting recordIDsToDelete: [CKRecord.ID],
    savePolicy: CKModifyRecordsOperation.RecordSavePolicy = .ifServerRecordUnchanged,
    atomically: Bool = true,
    completionHandler:
      @escaping @Sendable (
        Result<
          (
            saveResults: [CKRecord.ID: Result<CKRecord, any Error>],
            deleteResults: [CKRecord.ID: Result<Void, any Error>]
          ), any Error
        >
      ) -> Void
  ) {
    startModifying(
      recordsToSave, recordIDsToDelete, savePolicy, atomically: atomically, completionHandler)
  }

  /// Saves and deletes records in one request.
  ///
  /// - Parameters:
  ///   - recordsToSave: the records to save. At most 400 saves and deletions together are allowed;
  ///     more of them fail with `limitExceeded`. A record may be saved or deleted once; otherwise
  ///     the call fails with `invalidArguments`.
  ///   - recordIDsToDelete: the IDs of the records to delete.
  ///   - savePolicy: the rule for a record that has changed on the server since the client fetched
  ///     it.
  ///   - atomically: whether no change of a custom zone is made when an item of the zone fails. The
  ///     method throws then. Changes in other zones can still succeed, and each item of the default
  ///     zone succeeds or fails alone.
  /// - Returns: a result for each item. The saved records are new objects, which have the server's
  ///   new change tags, as `recordsToSave` have then.
  /// - Throws: `partialFailure` when `atomically` is true and an item of a custom zone failed;
  ///   ``CKError/partialErrorsByItemID`` has the errors of the items. Otherwise, the method throws
  ///   only when the whole request fails.
  @discardableResult
  public func modifyRecords(
    saving recordsToSave: [CKRecord], deleting recordIDsToDelete: [CKRecord.ID],
    savePolicy: CKModifyRecordsOperation.RecordSavePolicy = .ifServerRecordUnchanged,
    atomically: Bool = true
  ) async throws -> (
    saveResults: [CKRecord.ID: Result<CKRecord, any Error>],
    deleteResults: [CKRecord.ID: Result<Void, any Error>]
  ) {
    try await CKOperation.result {
      self.startModifying(
        recordsToSave, recordIDsToDelete, savePolicy, atomically: atomically, $0)
    }
  }
}

// MARK: - The operations

extension CKDatabase {
  @discardableResult
  private func startFetching(
    _ recordID: CKRecord.ID, _ completion: @escaping Completion<CKRecord>
  ) -> CKOperation {
    let items = ItemResults<CKRecord.ID, CKRecord>()
    let operation = CKFetchRecordsOperation(recordIDs: [recordID])
    operation.perRecordResultBlock = { items.add($0, $1) }
    operation.fetchRecordsResultBlock = { completion(items.single($0)) }
    return run(operation)
  }

  @discardableResult
  private func startFetching(
    _ recordIDs: [CKRecord.ID], _ desiredKeys: [CKRecord.FieldKey]?,
    _ completion: @escaping Completion<[CKRecord.ID: Result<CKRecord, any Error>]>
  ) -> CKOperation {
    let items = ItemResults<CKRecord.ID, CKRecord>()
    let operation = CKFetchRecordsOperation(recordIDs: recordIDs)
    operation.desiredKeys = desiredKeys
    operation.perRecordResultBlock = { items.add($0, $1) }
    operation.fetchRecordsResultBlock = { completion(items.all($0)) }
    return run(operation)
  }

  @discardableResult
  private func startSaving(
    _ record: CKRecord, _ completion: @escaping Completion<CKRecord>
  ) -> CKOperation {
    let items = ItemResults<CKRecord.ID, CKRecord>()
    let operation = CKModifyRecordsOperation(recordsToSave: [record])
    operation.perRecordSaveBlock = { items.add($0, $1) }
    operation.modifyRecordsResultBlock = { completion(items.single($0)) }
    return run(operation)
  }

  @discardableResult
  private func startDeleting(
    _ recordID: CKRecord.ID, _ completion: @escaping Completion<CKRecord.ID>
  ) -> CKOperation {
    let items = ItemResults<CKRecord.ID, Void>()
    let operation = CKModifyRecordsOperation(recordIDsToDelete: [recordID])
    operation.perRecordDeleteBlock = { items.add($0, $1) }
    operation.modifyRecordsResultBlock = { completion(items.single($0).map { recordID }) }
    return run(operation)
  }

  @discardableResult
  private func startModifying(
    _ recordsToSave: [CKRecord], _ recordIDsToDelete: [CKRecord.ID],
    _ savePolicy: CKModifyRecordsOperation.RecordSavePolicy, atomically: Bool,
    _ completion:
      @escaping Completion<
        (
          saveResults: [CKRecord.ID: Result<CKRecord, any Error>],
          deleteResults: [CKRecord.ID: Result<Void, any Error>]
        )
      >
  ) -> CKOperation {
    let saves = ItemResults<CKRecord.ID, CKRecord>()
    let deletions = ItemResults<CKRecord.ID, Void>()
    let operation = CKModifyRecordsOperation(
      recordsToSave: recordsToSave, recordIDsToDelete: recordIDsToDelete)
    operation.savePolicy = savePolicy
    operation.isAtomic = atomically
    operation.perRecordSaveBlock = { saves.add($0, $1) }
    operation.perRecordDeleteBlock = { deletions.add($0, $1) }
    operation.modifyRecordsResultBlock = { whole in
      completion(whole.map { (saves.results, deletions.results) })
    }
    return run(operation)
  }
}

extension Result {
  /// The value, or `nil` for a failure, for completion handlers with two arguments.
  var value: Success? { try? get() }

  /// The error, or `nil` for a success, for completion handlers with two arguments.
  var error: Failure? {
    if case .failure(let error) = self { return error }
    return nil
  }
}
