import CloudKitModel
import StoreModel

extension DatabaseAddress {
  /// The zone ID within its own database, where the owner's name is ``ZoneID/currentOwnerName``.
  func canonical(_ zoneID: ZoneID) -> ZoneID {
    guard let owner, zoneID.ownerName == owner else { return zoneID }
    return ZoneID(zoneName: zoneID.zoneName)
  }
}
