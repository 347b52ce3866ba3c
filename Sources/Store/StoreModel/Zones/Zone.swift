import CloudKitModel

/// A zone of a database with its version.
public struct Zone: Sendable, Hashable {
  /// The zone's name and owner.
  public var zoneID: ZoneID
  /// Rises with each commit that changes the zone.
  public var version: Int64
  /// The token of a client that has read the changes up to this version. nil for the default zone.
  public var changeToken: String?
  /// Whether the zone as a whole is shared.
  public var isShared: Bool

  /// Creates a value; does not create the zone in the store.
  public init(
    zoneID: ZoneID, version: Int64, changeToken: String? = nil, isShared: Bool = false
  ) {
    self.zoneID = zoneID
    self.version = version
    self.changeToken = changeToken
    self.isShared = isShared
  }
}

/// The outcome of one zone operation.
public enum ZoneOutcome: Sendable, Hashable {
  /// The zone was created, or existed already.
  case saved(Zone)
  case deleted(ZoneID)
  case failed(ZoneID, ItemFailure)
}
