import CloudKitModel

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

/// What became of one zone operation.
public enum ZoneOutcome: Sendable, Hashable {
  case saved(Zone)
  case deleted(ZoneID)
  case failed(ZoneID, ItemFailure)
}

/// What became of one subscription operation.
public enum SubscriptionOutcome: Sendable, Hashable {
  case saved(Subscription)
  case deleted(subscriptionID: String)
  case failed(subscriptionID: String, ItemFailure)
}
