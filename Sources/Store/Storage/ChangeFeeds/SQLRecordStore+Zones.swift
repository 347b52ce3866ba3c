import CloudKitModel
import StoreModel

extension SQLRecordStore {
  public func modifyZones(
    _ operations: [ZoneOperation], in database: DatabaseID, origin: ChangeOrigin,
    timestamp: Timestamp
  ) async throws -> [ZoneOutcome] {
    try await write(locking: .database(database)) { session in
      try session.modifyZones(operations, in: database, origin: origin, timestamp: timestamp)
    }
  }

  public func zones(in database: DatabaseID) async throws -> [Zone] {
    try await read { session in
      _ = try session.address(of: database)
      return try session.connection.rows(
        """
        SELECT zone_name, owner_name, zone_number, version FROM zones WHERE database_id = $1
        ORDER BY CASE WHEN zone_name = $2 THEN 0 ELSE 1 END, zone_name, owner_name
        """, [.integer(database.rawValue), .text(ZoneID.defaultZoneName)]
      ) {
        try Zone(
          zoneID: ZoneID(zoneName: $0.text(0), ownerName: $0.text(1)), number: $0.integer(2),
          version: $0.integer(3), in: database, tokens: session.tokens)
      }
    }
  }
}

extension Zone {
  fileprivate init(
    zoneID: ZoneID, number: Int64, version: Int64, in database: DatabaseID, tokens: TokenCipher
  ) throws {
    self.init(zoneID: zoneID, version: version)
    guard !zoneID.isDefaultZone else { return }
    var token = ChangeToken(beginningOf: .zone(number), in: database, at: version)
    token.position = version
    changeToken = try token.text(sealedBy: tokens)
  }
}

extension StoreSession {
  @discardableResult
  func addZone(
    _ zoneID: ZoneID, in database: DatabaseID, numbers: inout NumberSupply
  ) throws -> Zone {
    let number = try numbers.take(from: self)
    try connection.run(
      """
      INSERT INTO zones (database_id, zone_number, zone_name, owner_name, version)
      VALUES ($1, $2, $3, $4, $2)
      """,
      [
        .integer(database.rawValue), .integer(number), .text(zoneID.zoneName),
        .text(zoneID.ownerName),
      ])
    return try Zone(
      zoneID: zoneID, number: number, version: number, in: database, tokens: tokens)
  }

  /// Carries out the operations, in the writer's transaction; one outcome for each.
  func modifyZones(
    _ operations: [ZoneOperation], in database: DatabaseID, origin: ChangeOrigin,
    timestamp: Timestamp
  ) throws -> [ZoneOutcome] {
    try UserDeletionTable(session: self).refuseDeleted(origin.userRecordName)
    let address = try address(of: database)
    var numbers = try NumberSupply(of: database, count: operations.count, from: self)
    return try operations.enumerated().map { number, operation in
      var change = Change(
        event: .zoneCreated, zoneID: .default, record: nil,
        notificationID: notificationID(ofChange: Int64(number + 1), from: origin),
        timestamp: timestamp, userRecordName: origin.userRecordName, deviceID: origin.deviceID)
      switch operation {
      case .create(let name):
        change.zoneID = address.canonical(name)
        return try createZone(change, in: database, numbers: &numbers)
      case .delete(let name):
        change.event = .zoneDeleted
        change.zoneID = address.canonical(name)
        return try deleteZone(change, in: database, numbers: &numbers)
      }
    }
  }

  private func createZone(
    _ change: Change, in database: DatabaseID, numbers: inout NumberSupply
  ) throws -> ZoneOutcome {
    let zoneID = change.zoneID
    let existing = try connection.first(
      """
      SELECT zone_number, version FROM zones
      WHERE database_id = $1 AND zone_name = $2 AND owner_name = $3
      """,
      [.integer(database.rawValue), .text(zoneID.zoneName), .text(zoneID.ownerName)]
    ) {
      try Zone(
        zoneID: zoneID, number: $0.integer(0), version: $0.integer(1), in: database,
        tokens: tokens)
    }
    if let existing { return .saved(existing) }
    do {
      try zoneID.validate()
    } catch {
      return .failed(zoneID, ItemFailure(error))
    }
    if let failure = try refusal(ofZone: zoneID, in: database) { return .failed(zoneID, failure) }
    let zone = try addZone(zoneID, in: database, numbers: &numbers)
    try forgetDeletion(of: zoneID, in: database)
    try post(change, sequence: zone.version, numbers: numbers)
    return .saved(zone)
  }

  /// The failure of a zone that is one too many. With no limit nothing is counted.
  private func refusal(ofZone zoneID: ZoneID, in database: DatabaseID) throws -> ItemFailure? {
    let limit = quotas[.zonesPerDatabase]
    guard limit < .max else { return nil }
    let count = try connection.first(
      "SELECT COUNT(*) FROM zones WHERE database_id = $1", [.integer(database.rawValue)]
    ) { Int($0.integer(0)) }
    guard let count, count >= limit else { return nil }
    return quotas.refusal(
      of: .zonesPerDatabase, field: "zoneName",
      "zone '\(zoneID)' cannot be made: the database has \(count) zones, and the limit is \(limit). "
        + "Delete one first")
  }

  private func deleteZone(
    _ change: Change, in database: DatabaseID, numbers: inout NumberSupply
  ) throws -> ZoneOutcome {
    let zoneID = change.zoneID
    guard !zoneID.isDefaultZone else {
      let failure = ItemFailure(
        .invalid, field: "zoneName", "the default zone cannot be deleted; delete its records")
      return .failed(zoneID, failure)
    }
    guard let number = try zoneNumber(of: zoneID, in: database) else {
      return .failed(zoneID, ItemFailure(.zoneNotFound, "there is no zone '\(zoneID)'"))
    }
    try deleteContent(ofZone: number, in: database)
    let sequence = try numbers.take(from: self)
    try remember(deletionOf: zoneID, in: database, version: sequence, at: change.timestamp)
    try post(change, sequence: sequence, numbers: numbers)
    return .deleted(zoneID)
  }

  /// Deletes a zone with all that lies in it.
  private func deleteContent(ofZone number: Int64, in database: DatabaseID) throws {
    let zone: [SQLValue] = [.integer(database.rawValue), .integer(number)]
    var last = ""
    while true {
      let records = try connection.rows(
        StoredRecord.selection
          + " WHERE database_id = $1 AND zone_number = $2 AND record_name > $3"
          + " ORDER BY record_name LIMIT 500", zone + [.text(last)], StoredRecord.Row.init
      ).map { try storedRecord($0, in: database) }
      guard let final = records.last else { break }
      last = final.record.recordID.recordName
      for record in records {
        try removeIndexEntries(of: record, in: database)
        try countBytes(-record.contentSize, in: database)
      }
      // A zone may have any number of records. What was gathered is only this, for others' was
      // written before this job.
      try writeGathered()
    }
    for statement in [
      "DELETE FROM records WHERE database_id = $1 AND zone_number = $2",
      "DELETE FROM tombstones WHERE database_id = $1 AND zone_number = $2",
      "DELETE FROM client_change_tokens WHERE database_id = $1 AND zone_number = $2",
      "DELETE FROM reference_edges WHERE database_id = $1 AND zone_number = $2",
      "DELETE FROM zones WHERE database_id = $1 AND zone_number = $2",
    ] {
      try connection.run(statement, zone)
    }
    catalog.zoneIDs[Catalog.ZoneKey(database: database, number: number)] = nil
  }
}
