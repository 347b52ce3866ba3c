import CloudKitModel

extension DatabaseAddress {
  /// Returns the zone ID as the store's rows have it, with ``ZoneID/currentOwnerName`` in place of
  /// the owner's user record name.
  ///
  /// A client may send either name of the owner. Both mean the same zone, which has one row.
  package func canonical(_ zoneID: ZoneID) -> ZoneID {
    guard let owner, zoneID.ownerName == owner else { return zoneID }
    return ZoneID(zoneName: zoneID.zoneName)
  }

  /// Returns the failure for a zone that the database does not have.
  ///
  /// Zones of other users are in the shared database. A private database never has one, so the
  /// request belongs to another database.
  ///
  /// - Parameter advice: what the caller can do, for the text.
  package func missing(_ zoneID: ZoneID, _ advice: String? = nil) -> ItemFailure {
    guard scope != .private || canonical(zoneID).ownerName == ZoneID.currentOwnerName else {
      return ItemFailure(
        .badDatabase, field: "zoneID",
        "zone '\(zoneID)' is another user's; the zones of others are in the shared database")
    }
    return .noZone(zoneID, advice)
  }
}

extension ItemFailure {
  /// Returns the failure for a zone that does not exist.
  ///
  /// - Parameter advice: what the caller can do, for the text.
  package static func noZone(_ zoneID: ZoneID, _ advice: String? = nil) -> ItemFailure {
    let suffix = advice.map { "; \($0)" } ?? ""
    return ItemFailure(.zoneNotFound, field: "zoneID", "there is no zone '\(zoneID)'\(suffix)")
  }
}
