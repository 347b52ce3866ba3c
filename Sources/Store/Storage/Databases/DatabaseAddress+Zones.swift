import CloudKitModel
import StoreModel

extension DatabaseAddress {
  /// The zone as its own database names it: the owner's own name is ``ZoneID/currentOwnerName``.
  func canonical(_ zoneID: ZoneID) -> ZoneID {
    guard let owner, zoneID.ownerName == owner else { return zoneID }
    return ZoneID(zoneName: zoneID.zoneName)
  }
}
