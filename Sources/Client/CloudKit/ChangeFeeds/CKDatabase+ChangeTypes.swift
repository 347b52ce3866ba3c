extension CKDatabase {
  /// The namespace of the types that describe a changed or deleted zone of a database; see
  /// ``CKDatabase/databaseChanges(since:resultsLimit:)``.
  public enum DatabaseChange {
    /// A zone that is new, or whose records have changed.
    public struct Modification: Hashable, Sendable {
      /// The zone. Fetch its changes to learn which records changed.
      public let zoneID: CKRecordZone.ID
    }

    /// A zone that no longer exists. Delete the cached records of the zone.
    public struct Deletion: Hashable, Sendable {
      /// The reason why a zone no longer exists. Petrel never gives ``encryptedDataReset``.
      public enum Reason: Hashable, Sendable {
        /// An app deleted the zone.
        case deleted
        /// The zone was deleted for the user outside of the app: by the operator of the server, with a
        /// command or in the console.
        case purged
        /// The user reset the key of the encrypted data, so the zone's data cannot be read any
        /// more.
        case encryptedDataReset
      }

      /// The zone that no longer exists.
      public let zoneID: CKRecordZone.ID
      /// The reason why the zone no longer exists.
      public let reason: Reason

      /// Whether ``reason`` is ``Reason/purged``.
      @available(*, deprecated, message: "Use reason")
      public var purged: Bool { reason == .purged }
    }
  }

  /// The namespace of the types that describe a changed or deleted record of a zone; see
  /// ``CKDatabase/recordZoneChanges(inZoneWith:since:desiredKeys:resultsLimit:)``.
  public enum RecordZoneChange {
    /// A record that is new or has changed.
    public struct Modification: Hashable, Sendable {
      /// The latest state of the record. The feed does not contain the states between two fetches.
      public let record: CKRecord
    }

    /// A record that no longer exists.
    public struct Deletion: Hashable, Sendable {
      /// The ID of the deleted record.
      public let recordID: CKRecord.ID
      /// The record type that the record had.
      public let recordType: CKRecord.RecordType
    }
  }
}
