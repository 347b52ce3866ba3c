import CloudKitModel

/// How long assets that nobody holds are kept.
enum AssetRetention {
  /// From the end of an upload URL's time: so long may an upload last, and its receipt be used.
  static let receiptMilliseconds: Int64 = 24 * 60 * 60 * 1000
  /// From the first trim that finds a file without a holder: so long are download URLs good at
  /// least.
  static let orphanMilliseconds: Int64 = 60 * 60 * 1000
}

extension SQLRecordStore {
  /// Forgets old uploads and receipts, and drops the files that no record and no receipt names.
  func trimAssets(at timestamp: Timestamp) async throws {
    let now = timestamp.milliseconds
    try await assets.removeLeftovers()
    let oldest = now - AssetRetention.receiptMilliseconds
    while try await write(locking: .reference, { try $0.forgetUploads(before: oldest) }) {}
    var last: AssetKey? = AssetKey(database: .min, checksum: "")
    while let key = last {
      last = try await write(locking: .reference) { try $0.trimOrphans(after: key, at: now) }
    }
    // The files are elsewhere, and are not gone because they are not here.
    if let folder = assets as? FileAssetStore, folder.isStrange { return }
    while true {
      let names = try await read { try $0.disposableAssets() }
      if names.isEmpty { break }
      for name in names { try await assets.remove(name) }
      try await write(locking: .databases(names.map(\.database))) {
        try $0.forgetDisposals(names)
      }
    }
  }
}

private struct AssetKey: Sendable {
  var database: Int64
  var checksum: String
}

extension StoreSession {
  /// Tells whether there may be more.
  fileprivate func forgetUploads(before horizon: Int64) throws -> Bool {
    let old = try connection.rows(
      """
      SELECT database_id, receipt, CASE WHEN token_hash IS NULL THEN 1 ELSE 0 END
      FROM asset_uploads WHERE expires <= $1 ORDER BY expires LIMIT $2
      """, [.integer(horizon), .integer(Retention.batch)]
    ) { ($0.integer(0), $0.text(1), $0.integer(2) != 0) }
    try require(.databases(old.map { DatabaseID(rawValue: $0.0) }))
    for (database, receipt, isRereference) in old {
      if !isRereference {
        // Its file may have been kept without becoming known.
        try disposeOfAssetFile(
          named: receipt, unlessKeptIn: DatabaseID(rawValue: database))
      }
      try connection.run(
        "DELETE FROM asset_uploads WHERE database_id = $1 AND receipt = $2",
        [.integer(database), .text(receipt)])
    }
    return old.count == Int(Retention.batch)
  }

  /// Looks at files without a holder, in order of their keys, and drops those that have had none
  /// for long enough. Answers where to go on; nil at the end.
  fileprivate func trimOrphans(after last: AssetKey, at now: Int64) throws -> AssetKey? {
    let orphans = try connection.rows(
      """
      SELECT database_id, checksum, file, released, CASE WHEN EXISTS (
          SELECT 1 FROM asset_uploads WHERE asset_uploads.database_id = assets.database_id
            AND asset_uploads.checksum = assets.checksum) THEN 1 ELSE 0 END
      FROM assets WHERE released IS NOT NULL AND (database_id, checksum) > ($1, $2)
      ORDER BY database_id, checksum LIMIT $3
      """, [.integer(last.database), .text(last.checksum), .integer(Retention.batch)]
    ) {
      (
        key: AssetKey(database: $0.integer(0), checksum: $0.text(1)), file: $0.text(2),
        released: $0.integer(3), hasReceipt: $0.integer(4) != 0
      )
    }
    try require(.databases(orphans.map { DatabaseID(rawValue: $0.key.database) }))
    for orphan in orphans where !orphan.hasReceipt {
      let key: [SQLValue] = [.integer(orphan.key.database), .text(orphan.key.checksum)]
      if orphan.released == 0 {
        try connection.run(
          "UPDATE assets SET released = $3 WHERE database_id = $1 AND checksum = $2",
          key + [.integer(now)])
      } else if orphan.released <= now - AssetRetention.orphanMilliseconds {
        try connection.run("DELETE FROM assets WHERE database_id = $1 AND checksum = $2", key)
        try connection.run(
          """
          INSERT INTO asset_disposals (database_id, file) VALUES ($1, $2)
          ON CONFLICT (database_id, file) DO NOTHING
          """, [.integer(orphan.key.database), .text(orphan.file)])
      }
    }
    return orphans.count == Int(Retention.batch) ? orphans.last?.key : nil
  }

  fileprivate func disposableAssets() throws -> [AssetName] {
    try connection.rows(
      "SELECT database_id, file FROM asset_disposals LIMIT $1", [.integer(Retention.batch)]
    ) { AssetName(database: DatabaseID(rawValue: $0.integer(0)), file: $0.text(1)) }
  }

  fileprivate func forgetDisposals(_ names: [AssetName]) throws {
    for name in names {
      try connection.run(
        "DELETE FROM asset_disposals WHERE database_id = $1 AND file = $2",
        [.integer(name.database.rawValue), .text(name.file)])
    }
  }
}
