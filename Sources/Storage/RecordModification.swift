import CloudKitModel

/// One operation on one record (`records/modify`).
public struct RecordOperation: Sendable, Hashable {
  /// The raw values are the web-services names.
  public enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The record must not exist.
    case create
    /// Changes the named fields; the record must exist and its change tag agree.
    case update
    /// As ``update`` without looking at the tag; creates the record when there is none.
    case forceUpdate
    /// As ``update``, and fields that are not named lose their values.
    case replace
    /// As ``replace`` without looking at the tag; creates the record when there is none.
    case forceReplace
    /// The record must exist and its change tag agree.
    case delete
    /// Deletes without looking at the tag; a record that does not exist is no failure.
    case forceDelete
  }

  public var kind: Kind
  public var recordID: RecordID
  /// Needed by operations that may create.
  public var recordType: String?
  public var recordChangeTag: String?
  /// The fields to set; nil removes the field's value.
  public var fields: [String: RecordValue?]
  /// The parent to set; `.some(nil)` removes it, nil leaves it.
  public var parent: Reference??

  public init(
    kind: Kind, recordID: RecordID, recordType: String? = nil, recordChangeTag: String? = nil,
    fields: [String: RecordValue?] = [:], parent: Reference?? = nil
  ) {
    self.kind = kind
    self.recordID = recordID
    self.recordType = recordType
    self.recordChangeTag = recordChangeTag
    self.fields = fields
    self.parent = parent
  }
}

/// A request to change records of one database.
public struct RecordModification: Sendable {
  public var database: DatabaseID
  public var operations: [RecordOperation]
  /// Whether all operations of one zone succeed or fail together. It means something in custom
  /// zones only; in the default zone each operation stands alone.
  public var isAtomic: Bool
  public var origin: ChangeOrigin
  /// Whether only its creator may change or delete a record (the public database's default grant).
  public var onlyCreatorMayChange: Bool
  public var timestamp: Timestamp

  public init(
    database: DatabaseID, operations: [RecordOperation], isAtomic: Bool, origin: ChangeOrigin,
    onlyCreatorMayChange: Bool, timestamp: Timestamp
  ) {
    self.database = database
    self.operations = operations
    self.isAtomic = isAtomic
    self.origin = origin
    self.onlyCreatorMayChange = onlyCreatorMayChange
    self.timestamp = timestamp
  }
}

/// What became of one record operation.
public enum RecordOutcome: Sendable, Hashable {
  case saved(Record)
  case deleted(RecordID)
  case failed(ItemFailure)
}

/// One operation on one zone (`zones/modify`).
public enum ZoneOperation: Sendable, Hashable {
  /// Making a zone that exists is no failure.
  case create(ZoneID)
  case delete(ZoneID)
}

/// What became of one zone operation.
public enum ZoneOutcome: Sendable, Hashable {
  case saved(Zone)
  case deleted(ZoneID)
  case failed(ZoneID, ItemFailure)
}

/// One operation on one subscription (`subscriptions/modify`).
public enum SubscriptionOperation: Sendable, Hashable {
  /// Replaces a subscription of the same ID.
  case save(Subscription)
  case delete(subscriptionID: String)
}

/// What became of one subscription operation.
public enum SubscriptionOutcome: Sendable, Hashable {
  case saved(Subscription)
  case deleted(subscriptionID: String)
  case failed(subscriptionID: String, ItemFailure)
}
