extension CKSyncEngine {
  /// An event that a ``CKSyncEngineDelegate`` handles.
  ///
  /// An engine passes one event after the other: the next event waits until the delegate has handled
  /// the last one. Each `will…` event is followed by its `did…` event, also after a failure.
  public enum Event: Sendable {
    /// The state has changed. Store the serialization, in the order of the events.
    case stateUpdate(StateUpdate)
    /// The user has signed in or out, or another one has signed in.
    case accountChange(AccountChange)
    /// Zones of the database have changed or were deleted.
    case fetchedDatabaseChanges(FetchedDatabaseChanges)
    /// Records of a zone have changed or were deleted.
    case fetchedRecordZoneChanges(FetchedRecordZoneChanges)
    /// The engine has sent changes of zones.
    case sentDatabaseChanges(SentDatabaseChanges)
    /// The engine has sent a batch of changes of records.
    case sentRecordZoneChanges(SentRecordZoneChanges)
    /// The engine begins to fetch.
    case willFetchChanges(WillFetchChanges)
    /// The engine begins to fetch the changes of a zone.
    case willFetchRecordZoneChanges(WillFetchRecordZoneChanges)
    /// The engine has fetched the changes of a zone, or has failed to.
    case didFetchRecordZoneChanges(DidFetchRecordZoneChanges)
    /// The engine has ended a fetch.
    case didFetchChanges(DidFetchChanges)
    /// The engine begins to send.
    case willSendChanges(WillSendChanges)
    /// The engine has ended a send.
    case didSendChanges(DidSendChanges)
  }
}

extension CKSyncEngine.Event: CustomStringConvertible {
  public var description: String {
    switch self {
    case .stateUpdate(let event): "stateUpdate(\(event))"
    case .accountChange(let event): "accountChange(\(event))"
    case .fetchedDatabaseChanges(let event): "fetchedDatabaseChanges(\(event))"
    case .fetchedRecordZoneChanges(let event): "fetchedRecordZoneChanges(\(event))"
    case .sentDatabaseChanges(let event): "sentDatabaseChanges(\(event))"
    case .sentRecordZoneChanges(let event): "sentRecordZoneChanges(\(event))"
    case .willFetchChanges(let event): "willFetchChanges(\(event))"
    case .willFetchRecordZoneChanges(let event): "willFetchRecordZoneChanges(\(event))"
    case .didFetchRecordZoneChanges(let event): "didFetchRecordZoneChanges(\(event))"
    case .didFetchChanges(let event): "didFetchChanges(\(event))"
    case .willSendChanges(let event): "willSendChanges(\(event))"
    case .didSendChanges(let event): "didSendChanges(\(event))"
    }
  }
}

// MARK: The state and the account

extension CKSyncEngine.Event {
  /// A change of the engine's state.
  public struct StateUpdate: Sendable, CustomStringConvertible {
    /// The new state, to be stored for the next engine of the database.
    public let stateSerialization: CKSyncEngine.State.Serialization

    public var description: String { "StateUpdate" }
  }

  /// A change of the account.
  public struct AccountChange: Sendable, CustomStringConvertible {
    /// The kind of a change of the account.
    public enum ChangeType: Equatable, Sendable {
      /// The user signed in. The first start of an engine without a state has this event too.
      case signIn(currentUser: CKRecord.ID)
      /// The user signed out. The engine's state is empty now.
      case signOut(previousUser: CKRecord.ID)
      /// Another user signed in. The engine's state is empty now.
      case switchAccounts(previousUser: CKRecord.ID, currentUser: CKRecord.ID)
    }

    /// The kind of the change.
    public let changeType: ChangeType

    public var description: String { "AccountChange(\(changeType))" }
  }
}

extension CKSyncEngine.Event.AccountChange.ChangeType: CustomStringConvertible {
  public var description: String {
    switch self {
    case .signIn(let user): "signIn(currentUser: \(user))"
    case .signOut(let user): "signOut(previousUser: \(user))"
    case .switchAccounts(let previous, let current):
      "switchAccounts(previousUser: \(previous), currentUser: \(current))"
    }
  }
}

// MARK: The begin and the end of work

extension CKSyncEngine.Event {
  /// The begin of a fetch.
  public struct WillFetchChanges: Sendable, CustomStringConvertible {
    /// The circumstances of the fetch.
    public let context: CKSyncEngine.FetchChangesContext

    public var description: String { "WillFetchChanges(\(context))" }
  }

  /// The begin of the fetch of a zone.
  public struct WillFetchRecordZoneChanges: Sendable, CustomStringConvertible {
    /// The zone.
    public let zoneID: CKRecordZone.ID

    public var description: String { "WillFetchRecordZoneChanges(\(zoneID))" }
  }

  /// The end of the fetch of a zone.
  public struct DidFetchRecordZoneChanges: Sendable, CustomStringConvertible {
    /// The zone.
    public let zoneID: CKRecordZone.ID
    /// The error of the zone; `nil` if its changes were fetched.
    public let error: CKError?

    public var description: String {
      "DidFetchRecordZoneChanges(\(zoneID)\(error.map { ", error: \($0.code)" } ?? ""))"
    }
  }

  /// The end of a fetch.
  public struct DidFetchChanges: Sendable, CustomStringConvertible {
    /// The circumstances of the fetch.
    public let context: CKSyncEngine.FetchChangesContext

    public var description: String { "DidFetchChanges(\(context))" }
  }

  /// The begin of a send.
  public struct WillSendChanges: Sendable, CustomStringConvertible {
    /// The circumstances of the send.
    public let context: CKSyncEngine.SendChangesContext

    public var description: String { "WillSendChanges(\(context))" }
  }

  /// The end of a send.
  public struct DidSendChanges: Sendable, CustomStringConvertible {
    /// The circumstances of the send.
    public let context: CKSyncEngine.SendChangesContext

    public var description: String { "DidSendChanges(\(context))" }
  }
}
