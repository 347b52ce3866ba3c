import CloudKitModel
import SQLEngine
import StoreModel

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
    try await inBatches(
      { try $0.oldUploads(before: oldest) },
      drop: { try $0.forget($1) })
    var last = (database: Int64.min, checksum: "")
    while true {
      let orphans = try await read { [last] in
        try $0.orphans(after: last.database, last.checksum)
      }
      try await inEachDatabase(of: orphans) { session, orphans in
        for orphan in orphans { try session.trim(orphan, at: now) }
      }
      guard orphans.count == Int(Retention.batch), let end = orphans.last else { break }
      last = (end.database.rawValue, end.checksum)
    }
    // The files are elsewhere, and are not gone because they are not here.
    if let folder = assets as? FileAssetStore, folder.isStrange { return }
    while true {
      let names = try await read { try $0.disposableAssets() }
      if names.isEmpty { break }
      for name in names { try await assets.remove(name) }
      try await inEachDatabase(of: names) { try $0.forgetDisposals($1) }
    }
  }
}

/// An upload or a receipt that is not used any more.
private struct OldUpload: InDatabase {
  var database: DatabaseID
  var receipt: String
  /// Whether it is the receipt of a file that a record has already.
  var isRereference: Bool

  init(row: any SQLRow) {
    database = DatabaseID(rawValue: row.integer(0))
    receipt = row.text(1)
    isRereference = row.integer(2) != 0
  }
}

/// A file that no record holds.
private struct OrphanAsset: InDatabase {
  var database: DatabaseID
  var checksum: String
  var file: String

  init(row: any SQLRow) {
    database = DatabaseID(rawValue: row.integer(0))
    checksum = row.text(1)
    file = row.text(2)
  }
}

extension StoreSession {
  fileprivate func oldUploads(before horizon: Int64) throws -> [OldUpload] {
    try connection.rows(
      """
      SELECT database_id, receipt, CASE WHEN token_hash IS NULL THEN 1 ELSE 0 END
      FROM asset_uploads WHERE expires <= $1 ORDER BY expires LIMIT $2
      """, [.integer(horizon), .integer(Retention.batch)], OldUpload.init(row:))
  }

  fileprivate func forget(_ uploads: [OldUpload]) throws -> Int {
    for upload in uploads {
      if !upload.isRereference {
        // Its file may have been kept without becoming known.
        try disposeOfAssetFile(named: upload.receipt, unlessKeptIn: upload.database)
      }
      try connection.run(
        "DELETE FROM asset_uploads WHERE database_id = $1 AND receipt = $2",
        [.integer(upload.database.rawValue), .text(upload.receipt)])
    }
    return uploads.count
  }

  /// Files without a holder, in order of their keys, a batch of them.
  fileprivate func orphans(after database: Int64, _ checksum: String) throws -> [OrphanAsset] {
    try connection.rows(
      """
      SELECT database_id, checksum, file FROM assets
      WHERE released IS NOT NULL AND (database_id, checksum) > ($1, $2)
      ORDER BY database_id, checksum LIMIT $3
      """, [.integer(database), .text(checksum), .integer(Retention.batch)],
      OrphanAsset.init(row:))
  }

  /// Drops a file that still has no holder and has had none for long enough, nor a receipt.
  fileprivate func trim(_ orphan: OrphanAsset, at now: Int64) throws {
    let key: [SQLValue] = [.integer(orphan.database.rawValue), .text(orphan.checksum)]
    let released = try connection.first(
      """
      SELECT released FROM assets
      WHERE database_id = $1 AND checksum = $2 AND released IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM asset_uploads WHERE asset_uploads.database_id = assets.database_id
          AND asset_uploads.checksum = assets.checksum)
      """, key
    ) { $0.integer(0) }
    guard let released else { return }
    if released == 0 {
      try connection.run(
        "UPDATE assets SET released = $3 WHERE database_id = $1 AND checksum = $2",
        key + [.integer(now)])
    } else if released <= now - AssetRetention.orphanMilliseconds {
      try connection.run("DELETE FROM assets WHERE database_id = $1 AND checksum = $2", key)
      try connection.run(
        """
        INSERT INTO asset_disposals (database_id, file) VALUES ($1, $2)
        ON CONFLICT (database_id, file) DO NOTHING
        """, [.integer(orphan.database.rawValue), .text(orphan.file)])
    }
  }

  func disposableAssets(of database: DatabaseID) throws -> [AssetName] {
    try connection.rows(
      "SELECT file FROM asset_disposals WHERE database_id = $1 LIMIT $2",
      [.integer(database.rawValue), .integer(Retention.batch)]
    ) { AssetName(database: database, file: $0.text(0)) }
  }

  fileprivate func disposableAssets() throws -> [AssetName] {
    try connection.rows(
      "SELECT database_id, file FROM asset_disposals LIMIT $1", [.integer(Retention.batch)]
    ) { AssetName(database: DatabaseID(rawValue: $0.integer(0)), file: $0.text(1)) }
  }

  func forgetDisposals(_ names: [AssetName]) throws {
    for name in names {
      try connection.run(
        "DELETE FROM asset_disposals WHERE database_id = $1 AND file = $2",
        [.integer(name.database.rawValue), .text(name.file)])
    }
  }
}
