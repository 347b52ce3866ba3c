import CloudKitModel

extension DatabaseAddress {
  /// The zone ID as the store's rows have it: with ``ZoneID/currentOwnerName`` instead of the
  /// owner's user record name. Clients may send either.
  package func canonical(_ zoneID: ZoneID) -> ZoneID {
    guard let owner, zoneID.ownerName == owner else { return zoneID }
    return ZoneID(zoneName: zoneID.zoneName)
  }

  /// The failure for a zone that the database does not have. A zone of another user can never be
  /// in a private database, so the request then belongs to another database.
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
  package static func noZone(_ zoneID: ZoneID, _ advice: String? = nil) -> ItemFailure {
    let suffix = advice.map { "; \($0)" } ?? ""
    return ItemFailure(.zoneNotFound, field: "zoneID", "there is no zone '\(zoneID)'\(suffix)")
  }
}
