import CloudKitModel

/// A request to save and delete records of one database.
public struct RecordModification: Sendable {
  /// The database of the records.
  public var database: DatabaseID
  /// Carried out zone by zone, and in this order within a zone.
  public var operations: [RecordOperation]
  /// Whether all operations in one custom zone succeed or fail together. In the default zone, each
  /// succeeds or fails by itself.
  public var isAtomic: Bool
  /// The user and the device that make the changes.
  public var origin: ChangeOrigin
  /// Whether an administrator or the server itself makes the changes, so that the store checks no
  /// rights.
  public var isByAdministrator: Bool
  /// The time of the changes, and the modification date of the records.
  public var timestamp: Timestamp
  /// The token that the device sent with the changes, which its later fetches from the changed
  /// zones return.
  public var clientChangeToken: ClientChangeToken?
  /// The ID of the user's request. If the user repeats the request, the operations that succeeded
  /// before are not repeated: each succeeds with the record as it is now.
  public var requestID: String?
  /// The most bytes of records and assets in the database; nil for no limit.
  public var quota: Int64?

  /// Creates a request without a client change token and without a quota.
  public init(
    database: DatabaseID, operations: [RecordOperation], isAtomic: Bool, origin: ChangeOrigin,
    isByAdministrator: Bool = false, timestamp: Timestamp, requestID: String? = nil
  ) {
    self.database = database
    self.operations = operations
    self.isAtomic = isAtomic
    self.origin = origin
    self.isByAdministrator = isByAdministrator
    self.timestamp = timestamp
    self.requestID = requestID
  }

  /// The caller whose rights the store checks.
  public var caller: Caller {
    isByAdministrator
      ? .administrator(userRecordName: origin.userRecordName)
      : .user(userRecordName: origin.userRecordName)
  }
}

/// A token that a device sends with its changes. A later fetch of the device from the same zone
/// returns it, so the device knows that the server has the changes. The store keeps the latest
/// token of each device for each zone.
public struct ClientChangeToken: Sendable, Hashable {
  /// The bytes, which only the device understands.
  public var data: [UInt8]
  /// The client's name for its device; nil stands for all devices without a name.
  public var deviceID: String?

  /// Creates a token of a device.
  public init(data: [UInt8], deviceID: String?) {
    self.data = data
    self.deviceID = deviceID
  }
}

/// The outcome of one record operation.
public enum RecordOutcome: Sendable, Hashable {
  case saved(Record)
  case deleted(RecordID)
  case failed(ItemFailure)

  package var isFailure: Bool {
    if case .failed = self { return true }
    return false
  }
}

/// The user and the device that make a change. The device gets no pushes for it.
public struct ChangeOrigin: Sendable, Hashable {
  /// The user who makes the change.
  public var userRecordName: String
  /// The client's name for its device (`clientId`), if it sent one.
  public var deviceID: String?
  /// The ID of the request that makes the change; nil for a change without a request ID.
  public var request: RequestUUID?
  /// Whether the operator of the server makes the change, not an app.
  public var isByOperator = false

  /// Creates an origin, by default without a device and a request.
  public init(userRecordName: String, deviceID: String? = nil, request: RequestUUID? = nil) {
    self.userRecordName = userRecordName
    self.deviceID = deviceID
    self.request = request
  }
}
