import CloudKitModel

/// A request to save and delete records of one database.
public struct RecordModification: Sendable {
  /// The database of the records.
  public var database: DatabaseID
  /// The operations, in the order in which they are carried out.
  public var operations: [RecordOperation]
  /// Whether all operations of one zone succeed or fail together. Applies to custom zones only; in
  /// the default zone each operation stands alone.
  public var isAtomic: Bool
  /// The user and the device that make the changes.
  public var origin: ChangeOrigin
  /// Whether an administrator or the server itself makes the changes. If true, no right is
  /// required.
  public var isByAdministrator: Bool
  /// The time of the changes, which records get as their modification date.
  public var timestamp: Timestamp
  /// The token that the device's later fetches from the changed zones return.
  public var clientChangeToken: ClientChangeToken?
  /// The ID of the user's request; nil for none. A repeat under the same ID is not carried out
  /// again: each operation that succeeded before succeeds again, with the record as it is now.
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

  /// The caller whose rights decide.
  public var caller: Caller {
    isByAdministrator
      ? .administrator(userRecordName: origin.userRecordName)
      : .user(userRecordName: origin.userRecordName)
  }
}

/// A token that a device leaves with its changes. A later fetch from the same zone returns it, so
/// the device knows that the server has the changes. Each device has one for each zone.
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
