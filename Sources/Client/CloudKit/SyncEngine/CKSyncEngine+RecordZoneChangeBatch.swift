internal import CloudKitModel

extension CKSyncEngine {
  /// The changes of records that an engine sends in one request.
  ///
  /// A record may stand in the batch once; otherwise all changes of the batch fail with
  /// `invalidArguments`.
  ///
  /// ```swift
  /// let changes = syncEngine.state.pendingRecordZoneChanges.filter(context.options.scope.contains)
  /// return await CKSyncEngine.RecordZoneChangeBatch(pendingChanges: changes) { recordID in
  ///   self.record(for: recordID)
  /// }
  /// ```
  public struct RecordZoneChangeBatch: Sendable {
    /// The most saves and deletions in one batch. A larger batch fails with `limitExceeded`.
    static let changeLimit = 250
    /// The estimated bytes of records at which ``init(pendingChanges:recordProvider:)`` stops.
    static let byteLimit = 1_800_000

    /// The records to save.
    public var recordsToSave: [CKRecord]
    /// The IDs of the records to delete.
    public var recordIDsToDelete: [CKRecord.ID]
    /// Whether all changes of a zone are made or none.
    public var atomicByZone: Bool

    /// Creates a batch of the first changes that fit into one request: at most 250, and 1.8 MB of
    /// records. A larger record gets a batch of its own.
    ///
    /// - Parameters:
    ///   - pendingChanges: The changes, in the order in which they are sent.
    ///   - recordProvider: Returns the record of a save. With `nil`, the change is not in the batch,
    ///     and stays pending.
    /// - Returns: `nil` if no change is in the batch.
    public init?(
      pendingChanges: [CKSyncEngine.PendingRecordZoneChange],
      recordProvider: @Sendable (CKRecord.ID) async -> CKRecord?
    ) async {
      self.init()
      var bytes = 0
      for change in pendingChanges {
        if count == Self.changeLimit { break }
        switch change {
        case .deleteRecord(let recordID):
          recordIDsToDelete.append(recordID)
        case .saveRecord(let recordID):
          guard let record = await recordProvider(recordID) else { continue }
          let size = record.estimatedSize
          if bytes > 0, bytes + size > Self.byteLimit { return }
          bytes += size
          recordsToSave.append(record)
        }
      }
      if count == 0 { return nil }
    }

    /// Creates a batch.
    ///
    /// - Parameters:
    ///   - recordsToSave: The records to save.
    ///   - recordIDsToDelete: The IDs of the records to delete.
    ///   - atomicByZone: Whether all changes of a zone are made or none.
    public init(
      recordsToSave: [CKRecord] = [], recordIDsToDelete: [CKRecord.ID] = [],
      atomicByZone: Bool = false
    ) {
      self.recordsToSave = recordsToSave
      self.recordIDsToDelete = recordIDsToDelete
      self.atomicByZone = atomicByZone
    }

    var count: Int { recordsToSave.count + recordIDsToDelete.count }

    var changes: [CKSyncEngine.PendingRecordZoneChange] {
      recordsToSave.map { .saveRecord($0.recordID) }
        + recordIDsToDelete.map { .deleteRecord($0) }
    }
  }
}

extension CKSyncEngine.RecordZoneChangeBatch: CustomStringConvertible {
  public var description: String {
    "RecordZoneChangeBatch(recordsToSave: \(recordsToSave.map(\.recordID)), "
      + "recordIDsToDelete: \(recordIDsToDelete), atomicByZone: \(atomicByZone))"
  }
}

extension CKRecord {
  /// The estimated bytes of the record in a request, without assets. Values that no record can hold
  /// count as 0: the save fails before the request.
  fileprivate var estimatedSize: Int {
    contents.withLock { $0 }.fields.reduce(recordID.recordName.utf8.count) { size, field in
      // An error is reported by the save.
      let value = try? RecordValue(field.value, field: field.key, asset: { $0.storedAsset })
      return size + field.key.utf8.count + (value?.approximateSize ?? 0)
    }
  }
}
