import CloudKitModel
import StoreModel

extension DatabaseAddress {
  /// Returns the zone ID as the store's rows have it, with ``ZoneID/currentOwnerName`` in place of
  /// the owner's user record name.
  ///
  /// A client may send either name of the owner. Both mean the same zone, which has one row.
  func canonical(_ zoneID: ZoneID) -> ZoneID {
    guard let owner, zoneID.ownerName == owner else { return zoneID }
    return ZoneID(zoneName: zoneID.zoneName)
  }
}
