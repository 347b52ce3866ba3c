import CloudKitModel

/// A zone of a database.
public struct Zone: Sendable, Hashable {
  public var zoneID: ZoneID
  /// Rises with each commit in the zone.
  public var version: Int64
  /// The change token of a reader who has read the zone up to this version; nil for the default
  /// zone, which has no feed.
  public var changeToken: String?

  public init(zoneID: ZoneID, version: Int64, changeToken: String? = nil) {
    self.zoneID = zoneID
    self.version = version
    self.changeToken = changeToken
  }
}

/// The outcome of one zone operation.
public enum ZoneOutcome: Sendable, Hashable {
  case saved(Zone)
  case deleted(ZoneID)
  case failed(ZoneID, ItemFailure)
}
