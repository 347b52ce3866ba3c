import CloudKitModel

/// A request to change records of one database.
public struct RecordModification: Sendable {
  public var database: DatabaseID
  public var operations: [RecordOperation]
  /// Whether all operations of one zone succeed or fail together. It means something in custom
  /// zones only; in the default zone each operation stands alone.
  public var isAtomic: Bool
  public var origin: ChangeOrigin
  /// Whether the grants of record types apply, as they do for all who are not the server itself. They
  /// mean something in the public database only.
  public var appliesGrants: Bool
  public var timestamp: Timestamp
  /// What the device wants to be told by its later fetches from the zones changed here.
  public var clientChangeToken: ClientChangeToken?
  /// Names the user's request. One that was carried out under this name before is not carried out
  /// again: each operation that succeeded then succeeds again, with the record as it is now.
  public var requestID: String?
  /// Bytes of records and assets that the database may have; nil for any number.
  public var quota: Int64?

  public init(
    database: DatabaseID, operations: [RecordOperation], isAtomic: Bool, origin: ChangeOrigin,
    appliesGrants: Bool, timestamp: Timestamp, requestID: String? = nil
  ) {
    self.database = database
    self.operations = operations
    self.isAtomic = isAtomic
    self.origin = origin
    self.appliesGrants = appliesGrants
    self.timestamp = timestamp
    self.requestID = requestID
  }
}

/// Data that a device leaves with its changes, to recognise by a later fetch from the same zone that
/// the server has them. Each device has its own in each zone.
public struct ClientChangeToken: Sendable, Hashable {
  public var data: [UInt8]
  /// The name that the client gave for its device; nil stands for all devices without a name.
  public var deviceID: String?

  public init(data: [UInt8], deviceID: String?) {
    self.data = data
    self.deviceID = deviceID
  }
}
