import CloudKitModel
import StoreModel

extension StoreSession {
  func address(of database: DatabaseID) throws -> DatabaseAddress {
    if let known = catalog.addresses[database] { return known }
    let address = try connection.first(
      "SELECT container, environment, scope, owner FROM databases WHERE database_id = $1",
      [.integer(database.rawValue)]
    ) { row in
      guard let environment = ContainerEnvironment(rawValue: row.text(1)),
        let scope = DatabaseScope(rawValue: Int(row.integer(2)))
      else {
        throw StoreError(.corrupt, "database \(database.rawValue) has an unknown address")
      }
      let owner = row.text(3)
      return DatabaseAddress(
        container: row.text(0), environment: environment, scope: scope,
        owner: owner.isEmpty ? nil : owner)
    }
    guard let address else {
      throw StoreError(.notFound, "there is no database with the number \(database.rawValue)")
    }
    if catalog.addresses.count >= 50_000 { catalog.addresses = [:] }
    catalog.addresses[database] = address
    return address
  }

  /// The number of a zone; nil when there is none of this name. A zone that is deleted and made
  /// again has another number: the number is the zone's incarnation.
  func zoneNumber(of zoneID: ZoneID, in database: DatabaseID) throws -> Int64? {
    try connection.first(
      """
      SELECT zone_number FROM zones
      WHERE database_id = $1 AND zone_name = $2 AND owner_name = $3
      """,
      [.integer(database.rawValue), .text(zoneID.zoneName), .text(zoneID.ownerName)]
    ) { $0.integer(0) }
  }

  /// Whether there is a zone beside the default zone.
  func hasSeveralZones(_ database: DatabaseID) throws -> Bool {
    try connection.rows(
      "SELECT 1 FROM zones WHERE database_id = $1 LIMIT 2", [.integer(database.rawValue)]
    ) { _ in true }.count > 1
  }

  func zoneID(_ number: Int64, in database: DatabaseID) throws -> ZoneID {
    let key = Catalog.ZoneKey(database: database, number: number)
    if let known = catalog.zoneIDs[key] { return known }
    let zoneID = try connection.first(
      "SELECT zone_name, owner_name FROM zones WHERE database_id = $1 AND zone_number = $2",
      [.integer(database.rawValue), .integer(number)]
    ) { ZoneID(zoneName: $0.text(0), ownerName: $0.text(1)) }
    guard let zoneID else {
      throw StoreError(
        .corrupt, "database \(database.rawValue) has records in a zone that does not exist")
    }
    if catalog.zoneIDs.count >= 50_000 { catalog.zoneIDs = [:] }
    catalog.zoneIDs[key] = zoneID
    return zoneID
  }
}

extension DatabaseAddress {
  /// The zone as its own database names it: the owner's own name is ``ZoneID/currentOwnerName``.
  func canonical(_ zoneID: ZoneID) -> ZoneID {
    guard let owner, zoneID.ownerName == owner else { return zoneID }
    return ZoneID(zoneName: zoneID.zoneName)
  }
}
