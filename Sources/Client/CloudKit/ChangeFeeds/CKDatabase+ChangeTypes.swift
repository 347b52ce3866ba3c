extension CKDatabase {
  /// What became of a zone.
  public enum DatabaseChange {
    /// Something in the zone changed, or the zone is new.
    public struct Modification: Hashable, Sendable {
      public let zoneID: CKRecordZone.ID
    }

    /// The zone is gone.
    public struct Deletion: Hashable, Sendable {
      /// Why a zone is gone. Here it is always ``deleted``.
      public enum Reason: Hashable, Sendable {
        /// An app deleted it.
        case deleted
        /// The user purged the app's data.
        case purged
        /// The user reset the key of the encrypted data.
        case encryptedDataReset
      }

      public let zoneID: CKRecordZone.ID
      public let reason: Reason

      @available(*, deprecated, message: "Use reason")
      public var purged: Bool { reason == .purged }
    }
  }

  /// What became of a record.
  public enum RecordZoneChange {
    /// The record as it is now.
    public struct Modification: Hashable {
      public let record: CKRecord
    }

    /// The record is gone.
    public struct Deletion: Hashable, Sendable {
      public let recordID: CKRecord.ID
      public let recordType: CKRecord.RecordType
    }
  }
}
