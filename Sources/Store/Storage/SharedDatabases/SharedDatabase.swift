import CloudKitModel
import StoreModel

/// The shared database of a user in one transaction: the zones of other users that the user takes
/// part in.
///
/// The database has no records of its own. Each read looks at the rows of the owners' private
/// databases and checks the user's part in the shares there, so a removal counts from its commit.
struct SharedDatabase {
  let address: DatabaseAddress
  let transaction: StoreTransaction

  /// The advice to a caller who names no zone of another user.
  static let advice = "name a zone of another user"

  static func at(_ database: DatabaseID, in transaction: StoreTransaction) throws -> Self? {
    let address = try DatabaseTable(transaction: transaction).address(of: database)
    guard address.scope == .shared else { return nil }
    return Self(address: address, transaction: transaction)
  }

  var user: String { address.owner ?? "" }

  var shareSearch: ShareSearch {
    ShareSearch(
      user: user, container: address.container, environment: address.environment,
      transaction: transaction)
  }

  /// Returns nil if the user takes part in none of its shares.
  func zone(_ zoneID: ZoneID) throws -> SharedZone? {
    for (database, number) in try ParticipantTable(transaction: transaction).zones(
      with: user, named: zoneID.zoneName)
    {
      if let zone = try zone(number, of: database), zone.zoneID == zoneID { return zone }
    }
    return nil
  }

  private func zone(_ number: Int64, of database: DatabaseID) throws -> SharedZone? {
    let owner = try DatabaseTable(transaction: transaction).address(of: database)
    guard owner.container == address.container, owner.environment == address.environment
    else { return nil }
    let zoneID = try ZoneTable(transaction: transaction).id(of: number, in: database)
    return try SharedZone(
      number: number, named: zoneID.zoneName, in: database, ownedBy: owner.owner ?? "", for: user,
      transaction: transaction)
  }

  func existingZone(_ zoneID: ZoneID) throws -> SharedZone {
    guard let zone = try zone(zoneID) else {
      throw address.missing(zoneID, zoneID.isDefaultZone ? Self.advice : nil)
    }
    return zone
  }

  func zones() throws -> [SharedZone] {
    try ParticipantTable(transaction: transaction).zones(with: user)
      .compactMap { try zone($0.zone, of: $0.database) }
      .sorted { ($0.naming.owner, $0.zoneName) < ($1.naming.owner, $1.zoneName) }
  }

  func records(_ recordIDs: [RecordID]) throws -> [Record?] {
    var zones: [ZoneID: SharedZone?] = [:]
    return try recordIDs.map { recordID in
      let zone = try zones[recordID.zoneID] ?? zone(recordID.zoneID)
      zones[recordID.zoneID] = .some(zone)
      return try zone?.record(named: recordID.recordName)
    }
  }
}
