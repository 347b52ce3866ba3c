import CloudKitModel
import StoreModel

extension DatabaseAddress {
  /// The zone ID within its own database, where the owner's name is ``ZoneID/currentOwnerName``.
  ///
  /// A client may also name the zone by the owner's user record name. Both names stand for one
  /// zone, which has one row.
  func canonical(_ zoneID: ZoneID) -> ZoneID {
    guard let owner, zoneID.ownerName == owner else { return zoneID }
    return ZoneID(zoneName: zoneID.zoneName)
  }
}
