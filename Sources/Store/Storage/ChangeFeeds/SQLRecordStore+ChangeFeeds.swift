import CloudKitModel
import StoreModel

extension SQLRecordStore {
  public func recordChanges(
    matching query: RecordChangesQuery, in database: DatabaseID
  ) async throws -> RecordChangesPage {
    try await read { session in
      let address = try session.address(of: database)
      var query = query
      query.zoneID = address.canonical(query.zoneID)
      query.limit = min(max(0, query.limit), ServiceLimits.recordsPerPage)
      return try RecordFeed(query, in: database, at: address, session: session).page()
    }
  }

  public func zoneChanges(
    since token: String?, limit: Int, in database: DatabaseID
  ) async throws -> ZoneChangesPage {
    let limit = min(max(1, limit), ServiceLimits.recordsPerPage)
    return try await read { session in
      try ZoneFeed(since: token, limit: limit, in: database, session: session).page()
    }
  }
}

extension StoreSession {
  // MARK: Deleted zones

  func remember(
    deletionOf zoneID: ZoneID, in database: DatabaseID, version: Int64, at timestamp: Timestamp
  ) throws {
    try connection.run(
      """
      INSERT INTO zone_tombstones (database_id, zone_name, owner_name, version, deleted)
      VALUES ($1, $2, $3, $4, $5)
      """,
      [
        .integer(database.rawValue), .text(zoneID.zoneName), .text(zoneID.ownerName),
        .integer(version), .integer(timestamp.milliseconds),
      ])
  }

  func forgetDeletion(of zoneID: ZoneID, in database: DatabaseID) throws {
    try connection.run(
      """
      DELETE FROM zone_tombstones
      WHERE database_id = $1 AND zone_name = $2 AND owner_name = $3
      """,
      [.integer(database.rawValue), .text(zoneID.zoneName), .text(zoneID.ownerName)])
  }

  // MARK: Client change tokens

  /// Keeps a device's token for a zone in the place of its last one.
  func keep(
    _ token: ClientChangeToken, of user: String, zone: Int64, in database: DatabaseID,
    at timestamp: Timestamp
  ) throws {
    try connection.run(
      """
      INSERT INTO client_change_tokens (database_id, zone_number, user_record_name, device_id,
        saved, data)
      VALUES ($1, $2, $3, $4, $5, $6)
      ON CONFLICT (database_id, zone_number, user_record_name, device_id)
      DO UPDATE SET saved = excluded.saved, data = excluded.data
      """,
      [
        .integer(database.rawValue), .integer(zone), .text(user), .text(token.deviceID ?? ""),
        .integer(timestamp.milliseconds), .bytes(token.data),
      ])
  }

  func clientChangeToken(
    of reader: ChangeOrigin, zone: Int64, in database: DatabaseID
  ) throws -> [UInt8]? {
    try connection.first(
      """
      SELECT data FROM client_change_tokens WHERE database_id = $1 AND zone_number = $2
        AND user_record_name = $3 AND device_id = $4
      """,
      [
        .integer(database.rawValue), .integer(zone), .text(reader.userRecordName),
        .text(reader.deviceID ?? ""),
      ]
    ) { $0.bytes(0) }
  }
}
