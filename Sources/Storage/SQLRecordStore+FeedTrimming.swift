import CloudKitModel

/// The newest deletion in a zone that is forgotten.
private struct TombstoneCut: Sendable {
  var database: Int64
  var zone: Int64
  var version: Int64
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
    try await write(locking: .reference) { try $0.trimZoneTombstones(before: horizon) }
    while try await write(locking: .reference, { try $0.trimClientChangeTokens(before: horizon) }) {
    }
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

  fileprivate func trimZoneTombstones(before horizon: Int64) throws {
    let old = try connection.rows(
      """
      SELECT database_id, MAX(version) FROM zone_tombstones WHERE deleted < $1
      GROUP BY database_id
      """, [.integer(horizon)]
    ) { ($0.integer(0), $0.integer(1)) }
    try require(.databases(old.map { DatabaseID(rawValue: $0.0) }))
    for (database, version) in old {
      let arguments: [SQLValue] = [.integer(database), .integer(version)]
      try connection.run(
        "DELETE FROM zone_tombstones WHERE database_id = $1 AND version <= $2", arguments)
      try connection.run(
        """
        UPDATE databases SET trimmed_version = $2
        WHERE database_id = $1 AND trimmed_version < $2
        """, arguments)
    }
  }

  fileprivate func trimClientChangeTokens(before horizon: Int64) throws -> Bool {
    let old =
      try connection.rows(
        """
        SELECT database_id, zone_number, user_record_name, device_id FROM client_change_tokens
        WHERE saved < $1 LIMIT $2
        """, [.integer(horizon), .integer(Retention.batch)]
      ) { row in
        let database = DatabaseID(rawValue: row.integer(0))
        let key: [SQLValue] = [
          .integer(row.integer(0)), .integer(row.integer(1)), .text(row.text(2)),
          .text(row.text(3)),
        ]
        return (database, key)
      }
    try require(.databases(old.map(\.0)))
    for (_, key) in old {
      try connection.run(
        """
        DELETE FROM client_change_tokens WHERE database_id = $1 AND zone_number = $2
          AND user_record_name = $3 AND device_id = $4
        """, key)
    }
    return old.count == Int(Retention.batch)
  }
}
