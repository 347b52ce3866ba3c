import CloudKitModel

/// A zone of a database with its version.
public struct Zone: Sendable, Hashable {
  /// The zone's name and owner.
  public var zoneID: ZoneID
  /// The zone's version, which rises with each commit in the zone.
  public var version: Int64
  /// The change token of a reader who has read the zone up to this version. It is nil for the
  /// default zone, which has no feed except in the public database.
  public var changeToken: String?

  /// Creates a zone value. It does not create the zone in the store.
  public init(zoneID: ZoneID, version: Int64, changeToken: String? = nil) {
    self.zoneID = zoneID
    self.version = version
    self.changeToken = changeToken
  }
}

/// The outcome of one zone operation.
public enum ZoneOutcome: Sendable, Hashable {
  /// The zone was created, or existed already.
  case saved(Zone)
  /// The zone was deleted with its records.
  case deleted(ZoneID)
  /// The store refused the operation.
  case failed(ZoneID, ItemFailure)
}
