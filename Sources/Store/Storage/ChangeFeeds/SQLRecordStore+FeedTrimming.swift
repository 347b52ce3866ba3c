import CloudKitModel
import SQLEngine
import StoreModel

/// The newest deletion in a zone that is forgotten.
private struct TombstoneCut: Sendable {
  var database: Int64
  var zone: Int64
  var version: Int64
}

/// What a device left with changes in a zone, before a time.
private struct ClientChangeTokenKey: InDatabase {
  var database: DatabaseID
  var zone: Int64
  var userRecordName: String
  var deviceID: String
  var horizon: Int64
}

extension SQLRecordStore {
  /// Forgets deletions from before `horizon`, and what devices left with changes before that.
  ///
  /// Change tokens from before a forgotten deletion expire with the same write.
  func trimChangeFeeds(before horizon: Timestamp) async throws {
    let horizon = horizon.milliseconds
    for cut in try await read({ try $0.oldTombstones(before: horizon) }) {
      let database = DatabaseID(rawValue: cut.database)
      while try await write(locking: .database(database), { try $0.trimTombstones(through: cut) }) {
      }
    }
    let forgotten = try await read { try $0.oldZoneTombstones(before: horizon) }
    try await inEachDatabase(of: forgotten) { try $0.trimZoneTombstones($1) }
    try await inBatches(
      { try $0.clientChangeTokens(before: horizon) },
      drop: { try $0.drop($1) })
  }
}

// These look at all databases (see `SQLRecordStore+AllDatabases.swift`), but write under each
// database's own number.
extension StoreSession {
  fileprivate func oldTombstones(before horizon: Int64) throws -> [TombstoneCut] {
    try connection.rows(
      """
      SELECT database_id, zone_number, MAX(version) FROM tombstones WHERE deleted < $1
      GROUP BY database_id, zone_number
      """, [.integer(horizon)]
    ) { TombstoneCut(database: $0.integer(0), zone: $0.integer(1), version: $0.integer(2)) }
  }

  /// Deletes some of the tombstones; whether there may be more to do.
  fileprivate func trimTombstones(through cut: TombstoneCut) throws -> Bool {
    let place: [SQLValue] = [.integer(cut.database), .integer(cut.zone), .integer(cut.version)]
    try connection.run(
      """
      UPDATE zones SET trimmed_version = $3
      WHERE database_id = $1 AND zone_number = $2 AND trimmed_version < $3
      """, place)
    let versions = try connection.rows(
      """
      SELECT version FROM tombstones
      WHERE database_id = $1 AND zone_number = $2 AND version <= $3 ORDER BY version LIMIT $4
      """, place + [.integer(Retention.batch)]
    ) { $0.integer(0) }
    guard let last = versions.last else { return false }
    try connection.run(
      "DELETE FROM tombstones WHERE database_id = $1 AND zone_number = $2 AND version <= $3",
      [.integer(cut.database), .integer(cut.zone), .integer(last)])
    return versions.count == Int(Retention.batch)
  }

  fileprivate func oldZoneTombstones(before horizon: Int64) throws -> [ForgottenVersion] {
    try connection.rows(
      """
      SELECT database_id, MAX(version) FROM zone_tombstones WHERE deleted < $1
      GROUP BY database_id
      """, [.integer(horizon)], ForgottenVersion.init(row:))
  }

  fileprivate func trimZoneTombstones(_ versions: [ForgottenVersion]) throws {
    for forgotten in versions {
      try connection.run(
        "DELETE FROM zone_tombstones WHERE database_id = $1 AND version <= $2",
        forgotten.arguments)
      try connection.run(
        """
        UPDATE databases SET trimmed_version = $2
        WHERE database_id = $1 AND trimmed_version < $2
        """, forgotten.arguments)
    }
  }

  fileprivate func clientChangeTokens(before horizon: Int64) throws -> [ClientChangeTokenKey] {
    try connection.rows(
      """
      SELECT database_id, zone_number, user_record_name, device_id FROM client_change_tokens
      WHERE saved < $1 LIMIT $2
      """, [.integer(horizon), .integer(Retention.batch)]
    ) {
      ClientChangeTokenKey(
        database: DatabaseID(rawValue: $0.integer(0)), zone: $0.integer(1),
        userRecordName: $0.text(2), deviceID: $0.text(3), horizon: horizon)
    }
  }

  /// Drops those that were not saved again since.
  fileprivate func drop(_ keys: [ClientChangeTokenKey]) throws -> Int {
    for key in keys {
      try connection.run(
        """
        DELETE FROM client_change_tokens WHERE database_id = $1 AND zone_number = $2
          AND user_record_name = $3 AND device_id = $4 AND saved < $5
        """,
        [
          .integer(key.database.rawValue), .integer(key.zone), .text(key.userRecordName),
          .text(key.deviceID), .integer(key.horizon),
        ])
    }
    return keys.count
  }
}
