import CloudKitModel
import SQLEngine
import StoreModel

/// The client change tokens that devices sent with their last changes in each zone.
///
/// An app sends such data of its own with a save. A page of the zone's change feed contains the
/// newest one of the same user and device. It shows an app which of its own changes the server has.
struct ClientChangeTokenTable: Table {
  let transaction: StoreTransaction

  /// `device_id` is empty for a client that names no device.
  static let definition = [
    """
    CREATE TABLE client_change_tokens (
      database_id BIGINT NOT NULL, zone_number BIGINT NOT NULL, user_record_name TEXT NOT NULL,
      device_id TEXT NOT NULL, saved BIGINT NOT NULL, data BYTEA NOT NULL,
      PRIMARY KEY (database_id, zone_number, user_record_name, device_id))
    """
  ]

  /// The key of a client change token that was saved before a time.
  struct Key: InDatabase {
    var database: DatabaseID
    var zone: Int64
    var userRecordName: String
    var deviceID: String
    /// If the device has sent a newer token since, that token is not deleted.
    var horizon: Int64
  }

  func keep(
    _ token: ClientChangeToken, of user: String, zone: Int64, in database: DatabaseID,
    at timestamp: Timestamp
  ) throws {
    try decide(
      sql.keep,
      [
        .id(database), .integer(zone), .text(user), .text(token.deviceID ?? ""), .time(timestamp),
        .bytes(token.data),
      ])
  }

  func token(
    of user: String, deviceID: String?, zone: Int64, in database: DatabaseID
  ) throws -> [UInt8]? {
    try connection.first(
      sql.token, [.id(database), .integer(zone), .text(user), .text(deviceID ?? "")]
    ) { $0.bytes(0) }
  }

  func old(before horizon: Int64) throws -> [Key] {
    try connection.rows(sql.old, [.integer(horizon), .integer(Retention.batch)]) {
      Key(
        database: $0.database(0), zone: $0.integer(1), userRecordName: $0.text(2),
        deviceID: $0.text(3), horizon: horizon)
    }
  }

  /// Returns the count of `keys`, as ``Transactions/inBatches(_:drop:)`` requires.
  func drop(_ keys: [Key]) throws -> Int {
    for key in keys {
      try decide(
        sql.drop,
        [
          .id(key.database), .integer(key.zone), .text(key.userRecordName), .text(key.deviceID),
          .integer(key.horizon),
        ])
    }
    return keys.count
  }

  func removeAll(inZone zone: Int64, of database: DatabaseID) throws {
    try decide(sql.removeAll, [.id(database), .integer(zone)])
  }

  struct Statements {
    let keep: Statement = """
      INSERT INTO client_change_tokens (database_id, zone_number, user_record_name, device_id,
        saved, data)
      VALUES ($1, $2, $3, $4, $5, $6)
      ON CONFLICT (database_id, zone_number, user_record_name, device_id)
      DO UPDATE SET saved = excluded.saved, data = excluded.data
      """
    let token: Statement = """
      SELECT data FROM client_change_tokens WHERE database_id = $1 AND zone_number = $2
        AND user_record_name = $3 AND device_id = $4
      """
    let old = """
      SELECT database_id, zone_number, user_record_name, device_id FROM client_change_tokens
      WHERE saved < $1 LIMIT $2
      """.except([.everyDatabase, .wholeTable])
    let drop: Statement = """
      DELETE FROM client_change_tokens WHERE database_id = $1 AND zone_number = $2
        AND user_record_name = $3 AND device_id = $4 AND saved < $5
      """
    let removeAll: Statement =
      "DELETE FROM client_change_tokens WHERE database_id = $1 AND zone_number = $2"
  }
  static let sql = Statements()
}
