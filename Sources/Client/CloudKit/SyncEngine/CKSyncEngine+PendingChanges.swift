extension CKSyncEngine {
  /// A record that the app changed and the server does not have yet. Add it to
  /// ``State/add(pendingRecordZoneChanges:)``.
  public enum PendingRecordZoneChange: Hashable, Sendable {
    /// The app saved a record.
    case saveRecord(CKRecord.ID)
    /// The app deleted a record.
    case deleteRecord(CKRecord.ID)
  }

  /// A zone that the app changed and the server does not have yet. Add it to
  /// ``State/add(pendingDatabaseChanges:)``.
  ///
  /// Two changes are equal if they save, or delete, the zone with the same ID.
  public enum PendingDatabaseChange: Hashable, Sendable {
    /// The app made a zone.
    case saveZone(CKRecordZone)
    /// The app deleted a zone.
    case deleteZone(CKRecordZone.ID)

    public static func == (left: Self, right: Self) -> Bool {
      left.isDeletion == right.isDeletion && left.target == right.target
    }

    public func hash(into hasher: inout Hasher) {
      hasher.combine(isDeletion)
      hasher.combine(target)
    }
  }
}

extension CKSyncEngine.PendingRecordZoneChange: PendingChange, CustomStringConvertible {
  var target: CKRecord.ID {
    switch self {
    case .saveRecord(let recordID), .deleteRecord(let recordID): recordID
    }
  }

  var isDeletion: Bool {
    switch self {
    case .saveRecord: false
    case .deleteRecord: true
    }
  }

  public var description: String {
    switch self {
    case .saveRecord(let recordID): "saveRecord(\(recordID))"
    case .deleteRecord(let recordID): "deleteRecord(\(recordID))"
    }
  }
}

extension CKSyncEngine.PendingDatabaseChange: PendingChange, CustomStringConvertible {
  var target: CKRecordZone.ID {
    switch self {
    case .saveZone(let zone): zone.zoneID
    case .deleteZone(let zoneID): zoneID
    }
  }

  var isDeletion: Bool {
    switch self {
    case .saveZone: false
    case .deleteZone: true
    }
  }

  public var description: String {
    switch self {
    case .saveZone(let zone): "saveZone(\(zone.zoneID))"
    case .deleteZone(let zoneID): "deleteZone(\(zoneID))"
    }
  }
}
