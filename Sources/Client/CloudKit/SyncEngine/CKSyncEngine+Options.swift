extension CKSyncEngine {
  /// The reason why an engine fetches or sends.
  public enum SyncReason: Hashable, Sendable {
    /// The engine decided to, for example after a push.
    case scheduled
    /// The app called ``CKSyncEngine/fetchChanges(_:)`` or ``CKSyncEngine/sendChanges(_:)``.
    case manual
  }

  /// The choice which changes an engine fetches.
  public struct FetchChangesOptions: Sendable {
    /// The zones whose changes are fetched.
    public enum Scope: Equatable, Sendable {
      /// All zones.
      case all
      /// All zones but these.
      case allExcluding([CKRecordZone.ID])
      /// Only these zones.
      case zoneIDs([CKRecordZone.ID])

      /// Whether the changes of a zone are fetched.
      public func contains(_ zoneID: CKRecordZone.ID) -> Bool {
        switch self {
        case .all: true
        case .allExcluding(let zoneIDs): !zoneIDs.contains(zoneID)
        case .zoneIDs(let zoneIDs): zoneIDs.contains(zoneID)
        }
      }
    }

    /// The zones whose changes are fetched.
    public var scope: Scope
    /// The group of the engine's operations.
    public var operationGroup: CKOperationGroup
    /// The zones that are fetched before the others, in this order; empty unless set.
    public var prioritizedZoneIDs: [CKRecordZone.ID] = []

    /// Creates options.
    ///
    /// - Parameter operationGroup: The group of the engine's operations; `nil` makes a new one.
    public init(scope: Scope = .all, operationGroup: CKOperationGroup? = nil) {
      self.scope = scope
      self.operationGroup = operationGroup ?? CKOperationGroup()
    }
  }

  /// The choice which changes an engine sends.
  public struct SendChangesOptions: Sendable {
    /// The records whose changes are sent.
    public enum Scope: Equatable, Sendable {
      /// All records.
      case all
      /// All records but those of these zones.
      case allExcluding([CKRecordZone.ID])
      /// Only the records of these zones.
      case zoneIDs([CKRecordZone.ID])
      /// Only these records. No zone is saved or deleted.
      case recordIDs([CKRecord.ID])

      /// Whether the changes of a record are sent.
      public func contains(_ recordID: CKRecord.ID) -> Bool {
        switch self {
        case .recordIDs(let recordIDs): recordIDs.contains(recordID)
        case .all, .allExcluding, .zoneIDs: contains(zone: recordID.zoneID)
        }
      }

      /// Whether a pending change is sent.
      public func contains(_ pendingChange: PendingRecordZoneChange) -> Bool {
        contains(pendingChange.target)
      }

      func contains(zone zoneID: CKRecordZone.ID) -> Bool {
        switch self {
        case .all: true
        case .allExcluding(let zoneIDs): !zoneIDs.contains(zoneID)
        case .zoneIDs(let zoneIDs): zoneIDs.contains(zoneID)
        case .recordIDs: false
        }
      }
    }

    /// The records whose changes are sent.
    public var scope: Scope
    /// The group of the engine's operations.
    public var operationGroup: CKOperationGroup

    /// Creates options.
    ///
    /// - Parameter operationGroup: The group of the engine's operations; `nil` makes a new one.
    public init(scope: Scope = .all, operationGroup: CKOperationGroup? = nil) {
      self.scope = scope
      self.operationGroup = operationGroup ?? CKOperationGroup()
    }
  }

  /// The circumstances of a fetch.
  public struct FetchChangesContext: Sendable {
    /// The reason why the engine fetches.
    public let reason: SyncReason
    /// The options of the fetch.
    public let options: FetchChangesOptions
  }

  /// The circumstances of a send.
  public struct SendChangesContext: Sendable {
    /// The reason why the engine sends.
    public let reason: SyncReason
    /// The options of the send.
    public let options: SendChangesOptions
  }
}

extension CKSyncEngine.SyncReason: CustomStringConvertible {
  public var description: String {
    switch self {
    case .scheduled: "scheduled"
    case .manual: "manual"
    }
  }
}

extension CKSyncEngine.FetchChangesOptions: CustomStringConvertible {
  public var description: String {
    let priority = prioritizedZoneIDs.isEmpty ? "" : ", prioritizedZoneIDs: \(prioritizedZoneIDs)"
    return "FetchChangesOptions(scope: \(scope)\(priority))"
  }
}

extension CKSyncEngine.FetchChangesOptions.Scope: CustomStringConvertible {
  public var description: String {
    switch self {
    case .all: "all"
    case .allExcluding(let zoneIDs): "allExcluding(\(zoneIDs))"
    case .zoneIDs(let zoneIDs): "zoneIDs(\(zoneIDs))"
    }
  }
}

extension CKSyncEngine.SendChangesOptions: CustomStringConvertible {
  public var description: String { "SendChangesOptions(scope: \(scope))" }
}

extension CKSyncEngine.SendChangesOptions.Scope: CustomStringConvertible {
  public var description: String {
    switch self {
    case .all: "all"
    case .allExcluding(let zoneIDs): "allExcluding(\(zoneIDs))"
    case .zoneIDs(let zoneIDs): "zoneIDs(\(zoneIDs))"
    case .recordIDs(let recordIDs): "recordIDs(\(recordIDs))"
    }
  }
}

extension CKSyncEngine.FetchChangesContext: CustomStringConvertible {
  public var description: String {
    "FetchChangesContext(reason: \(reason), options: \(options))"
  }
}

extension CKSyncEngine.SendChangesContext: CustomStringConvertible {
  public var description: String {
    "SendChangesContext(reason: \(reason), options: \(options))"
  }
}
