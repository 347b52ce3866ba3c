// The events with changes of zones and records.

extension CKSyncEngine.Event {
  /// Zones that have changed or were deleted, from one answer of the server.
  public struct FetchedDatabaseChanges: Sendable, CustomStringConvertible {
    /// The zones that are new, or whose records have changed.
    public let modifications: [CKDatabase.DatabaseChange.Modification]
    /// The zones that were deleted.
    public let deletions: [CKDatabase.DatabaseChange.Deletion]

    public var description: String {
      "FetchedDatabaseChanges(modifications: \(modifications.map(\.zoneID)), "
        + "deletions: \(deletions.map(\.zoneID)))"
    }
  }

  /// Records of one zone that have changed or were deleted, from one answer of the server.
  public struct FetchedRecordZoneChanges: Sendable, CustomStringConvertible {
    /// The records that are new or have changed, in the order of their last changes.
    public let modifications: [CKDatabase.RecordZoneChange.Modification]
    /// The records that were deleted, in the order of their deletion.
    public let deletions: [CKDatabase.RecordZoneChange.Deletion]

    public var description: String {
      "FetchedRecordZoneChanges(modifications: \(modifications.map(\.record.recordID)), "
        + "deletions: \(deletions.map(\.recordID)))"
    }
  }

  /// The zones that the engine has sent in one request. Each zone is in one of the lists.
  public struct SentDatabaseChanges: Sendable, CustomStringConvertible {
    /// A zone that was not saved.
    public struct FailedZoneSave: Sendable, CustomStringConvertible {
      /// The zone.
      public let zone: CKRecordZone
      /// The reason.
      public let error: CKError

      public var description: String { "\(zone.zoneID): \(error.code)" }
    }

    /// The zones that were saved.
    public let savedZones: [CKRecordZone]
    /// The zones that were not saved.
    public let failedZoneSaves: [FailedZoneSave]
    /// The zones that were deleted.
    public let deletedZoneIDs: [CKRecordZone.ID]
    /// The zones that were not deleted, with the reasons.
    public let failedZoneDeletes: [CKRecordZone.ID: CKError]

    public var description: String {
      "SentDatabaseChanges(savedZones: \(savedZones.map(\.zoneID)), "
        + "failedZoneSaves: \(failedZoneSaves), deletedZoneIDs: \(deletedZoneIDs), "
        + "failedZoneDeletes: \(CKError.codes(of: failedZoneDeletes)))"
    }
  }

  /// The records that the engine has sent in one batch. Each record is in one of the lists.
  public struct SentRecordZoneChanges: Sendable, CustomStringConvertible {
    /// A record that was not saved.
    public struct FailedRecordSave: Sendable, CustomStringConvertible {
      /// The record, as the app passed it.
      public let record: CKRecord
      /// The reason. An error `serverRecordChanged` has the server's record.
      public let error: CKError

      public var description: String { "\(record.recordID): \(error.code)" }
    }

    /// The records that were saved, with their new change tags.
    public let savedRecords: [CKRecord]
    /// The records that were not saved.
    public let failedRecordSaves: [FailedRecordSave]
    /// The records that were deleted.
    public let deletedRecordIDs: [CKRecord.ID]
    /// The records that were not deleted, with the reasons.
    public let failedRecordDeletes: [CKRecord.ID: CKError]

    public var description: String {
      "SentRecordZoneChanges(savedRecords: \(savedRecords.map(\.recordID)), "
        + "failedRecordSaves: \(failedRecordSaves), deletedRecordIDs: \(deletedRecordIDs), "
        + "failedRecordDeletes: \(CKError.codes(of: failedRecordDeletes)))"
    }
  }
}

extension CKError {
  fileprivate static func codes(of errors: [some Hashable: CKError]) -> String {
    "[\(errors.map { "\($0): \($1.code)" }.joined(separator: ", "))]"
  }
}
