import SQLEngine
import StoreModel

/// The files of assets, the records that hold the files, and the files to be deleted.
///
/// A file has one row in `assets`, and one row in `asset_references` for each field that holds it.
/// `assets.released` is null while a record holds the file. A row in `asset_disposals` (the mark)
/// names a file whose bytes are to be deleted; it stays after the row in `assets` is deleted. The
/// life of a file:
///
/// 1. ``add(_:named:to:)`` registers the file with `released` 0.
/// 2. The first record that holds the file sets `released` to null. When no record holds the file
///    any more, `released` becomes 0 again.
/// 3. A trim that finds 0 writes the present time, in milliseconds since 1970. A trim at least
///    ``AssetRetention/orphanMilliseconds`` later deletes the row in `assets` and marks the file.
/// 4. The next step of that trim removes the file's bytes, and then the mark.
///
/// ``drop(unheld:of:)`` and ``dropSome(of:)`` mark registered files at once.
/// ``dispose(ofFile:unlessKeptIn:)`` marks the file of an upload that was not registered.
struct AssetTable: Table {
  let transaction: StoreTransaction

  /// `checksum` is the file's SHA-256 in hexadecimal digits; `file` is its name in the
  /// ``AssetStore``, which equals the receipt of its upload. `size` is in bytes. The partial index
  /// has only the files that no record holds, so a trim does not read the others.
  static let definition = [
    """
    CREATE TABLE assets (
      database_id BIGINT NOT NULL, checksum TEXT NOT NULL, file TEXT NOT NULL,
      size BIGINT NOT NULL, released BIGINT, PRIMARY KEY (database_id, checksum))
    """,
    """
    CREATE INDEX assets_released ON assets (database_id, checksum) WHERE released IS NOT NULL
    """,
    """
    CREATE TABLE asset_references (
      database_id BIGINT NOT NULL, checksum TEXT NOT NULL, record_number BIGINT NOT NULL,
      field_name TEXT NOT NULL,
      PRIMARY KEY (database_id, checksum, record_number, field_name)) /*clustered*/
    """,
    """
    CREATE TABLE asset_disposals (
      database_id BIGINT NOT NULL, file TEXT NOT NULL, PRIMARY KEY (database_id, file))
    """,
  ]

  // MARK: Files

  func contains(_ checksum: String, in database: DatabaseID) throws -> Bool {
    try connection.exists(sql.exists, [.id(database), .text(checksum)])
  }

  /// A row of `assets`, as far as a save needs it.
  struct File {
    var size: Int64
    /// Whether a record has the file. Otherwise the file is deleted after ``AssetRetention``.
    var isHeld: Bool
  }

  func file(ofChecksum checksum: String, in database: DatabaseID) throws -> File? {
    let key = WriteSet.AssetKey(database: database, checksum: checksum)
    if let known = transaction.writes.assets[key] { return known.row }
    // No decided statement changes an unknown file.
    let file = try transaction.besidesDecisions {
      try connection.first(sql.size, [.id(database), .text(checksum)]) {
        File(size: $0.integer(0), isHeld: $0.isNull(1))
      }
    }
    if transaction.isWriting { transaction.writes.assets.note(file, for: key) }
    return file
  }

  private func decide(_ file: File?, ofChecksum checksum: String, in database: DatabaseID) {
    transaction.writes.assets.decide(
      file, for: WriteSet.AssetKey(database: database, checksum: checksum))
  }

  func name(forChecksum checksum: String, in database: DatabaseID) throws -> AssetName? {
    try connection.first(
      sql.file, [.id(database), .text(checksum)]
    ) { AssetName(database: database, file: $0.text(0)) }
  }

  func holders(
    ofChecksum checksum: String, in database: DatabaseID
  ) throws -> [(record: Int64, zone: Int64)] {
    try connection.rows(
      sql.holders, [.id(database), .text(checksum)]
    ) { ($0.integer(0), $0.integer(1)) }
  }

  func containsAny() throws -> Bool {
    try connection.exists(sql.any, [])
  }

  func unheldBytes(in database: DatabaseID) throws -> Int64 {
    try connection.integer(sql.unheldBytes, [.id(database)]) ?? 0
  }

  /// Registers a file whose bytes are stored. If a file with the same bytes is registered already,
  /// that file stays, and the new one is marked for deletion.
  ///
  /// - Parameter name: the receipt of the upload.
  /// - Returns: whether the file is registered by this call.
  /// - Throws: ``ItemFailure/Code/notFound`` as an ``ItemFailure`` if the upload no longer exists.
  func add(
    _ file: AssetFile, named name: String, to database: DatabaseID
  ) throws -> Bool {
    // The user may have been deleted while the file was written.
    guard try AssetUploadTable(transaction: transaction).contains(name, in: database) else {
      throw ItemFailure(.notFound, "the upload no longer exists; request a new URL")
    }
    let added = try connection.run(
      sql.add, [.id(database), .text(file.checksum), .text(name), .integer(file.size)])
    guard added == 0 else {
      decide(File(size: file.size, isHeld: false), ofChecksum: file.checksum, in: database)
      return true
    }
    try dispose(ofFile: name, unlessKeptIn: database)
    return false
  }

  // MARK: Holders

  /// `old` is nil for a created record, `new` for a deleted one. A held file's size counts once in
  /// the database's stored bytes, whatever the number of holders.
  func updateReferences(
    from old: StoredRecord?, to new: StoredRecord?, in database: DatabaseID
  ) throws {
    let before = old?.record.assetHoldings ?? []
    let after = new?.record.assetHoldings ?? []
    guard let number = (new ?? old)?.number, before != after else { return }
    func key(_ holding: AssetHolding) -> [SQLValue] {
      [.id(database), .text(holding.checksum), .integer(number), .text(holding.fieldName)]
    }
    let (added, removed) = (after.subtracting(before), before.subtracting(after))
    for holding in added {
      try hold(holding.checksum, in: database)
      try decide(sql.addReference, key(holding))
    }
    for holding in removed { try decide(sql.removeReference, key(holding)) }
    for checksum in Set(removed.map(\.checksum)).subtracting(after.map(\.checksum)) {
      try release(checksum, in: database)
    }
  }

  /// A checksum that has no row in `assets` counts no bytes.
  private func hold(_ checksum: String, in database: DatabaseID) throws {
    guard let file = try file(ofChecksum: checksum, in: database), !file.isHeld else { return }
    try decide(sql.hold, [.id(database), .text(checksum)])
    decide(File(size: file.size, isHeld: true), ofChecksum: checksum, in: database)
    try DatabaseTable(transaction: transaction).countBytes(Int(file.size), in: database)
  }

  private func release(_ checksum: String, in database: DatabaseID) throws {
    let left = try connection.integer(sql.release, [.id(database), .text(checksum)])
    guard let left else { return }
    decide(File(size: left, isHeld: false), ofChecksum: checksum, in: database)
    try DatabaseTable(transaction: transaction).countBytes(-Int(left), in: database)
  }

  // MARK: Files to be deleted

  /// The first batch begins after `Int64.min` and an empty checksum.
  func orphans(after database: Int64, _ checksum: String) throws -> [OrphanAsset] {
    try connection.rows(
      sql.orphans,
      [.integer(database), .text(checksum), .integer(Retention.batch)], OrphanAsset.init(row:))
  }

  /// Does the next step of the deletion of a file that no record holds. The method does nothing if
  /// a record holds the file again, or if the file has a receipt.
  func trim(_ orphan: OrphanAsset, at now: Int64) throws {
    let key: [SQLValue] = [.id(orphan.database), .text(orphan.checksum)]
    let released = try connection.integer(sql.released, key)
    guard let released else { return }
    if released == 0 {
      try decide(sql.setReleased, key + [.integer(now)])
    } else if released <= now - AssetRetention.orphanMilliseconds {
      try decide(sql.remove, key)
      decide(nil, ofChecksum: orphan.checksum, in: orphan.database)
      try dispose(of: [orphan.file], in: orphan.database)
    }
  }

  /// Marks a file at once if no record and no receipt names it any more. The deletion of a user
  /// calls this method: the file then need not stay for the hour that a download URL is valid.
  func drop(unheld checksum: String, of database: DatabaseID) throws {
    let files = try connection.texts(sql.dropUnheld, [.id(database), .text(checksum)])
    transaction.writes.assets = RowOverlay()
    try dispose(of: files, in: database)
  }

  /// Held or not. Returns their number, at most ``Retention/batch``.
  func dropSome(of database: DatabaseID) throws -> Int {
    let files = try connection.texts(sql.dropSome, [.id(database), .integer(Retention.batch)])
    transaction.writes.assets = RowOverlay()
    try dispose(of: files, in: database)
    return files.count
  }

  private func dispose(of files: [String], in database: DatabaseID) throws {
    for file in files {
      try decide(sql.dispose, [.id(database), .text(file)])
    }
  }

  /// For an upload that failed or expired: its file may have been written, but not registered.
  func dispose(ofFile name: String, unlessKeptIn database: DatabaseID) throws {
    try decide(sql.disposeFile, [.id(database), .text(name)])
  }

  func disposable(of database: DatabaseID) throws -> [AssetName] {
    try connection.rows(
      sql.disposable, [.id(database), .integer(Retention.batch)]
    ) { AssetName(database: database, file: $0.text(0)) }
  }

  func disposable() throws -> [AssetName] {
    try connection.rows(sql.disposableAnywhere, [.integer(Retention.batch)]) {
      AssetName(database: $0.database(0), file: $0.text(1))
    }
  }

  /// Call the method after the bytes of the files are removed from the ``AssetStore``.
  func forgetDisposals(_ names: [AssetName]) throws {
    for name in names {
      try decide(sql.forgetDisposal, [.id(name.database), .text(name.file)])
    }
  }

  struct Statements {
    let exists: Statement = "SELECT 1 FROM assets WHERE database_id = $1 AND checksum = $2"
    let size: Statement =
      "SELECT size, released FROM assets WHERE database_id = $1 AND checksum = $2"
    let file: Statement = "SELECT file FROM assets WHERE database_id = $1 AND checksum = $2"
    let holders: Statement = """
      SELECT DISTINCT records.record_number, records.zone_number FROM asset_references
      JOIN records ON records.database_id = asset_references.database_id
        AND records.record_number = asset_references.record_number
      WHERE asset_references.database_id = $1 AND asset_references.checksum = $2
      """
    let any = """
      SELECT 1 WHERE EXISTS (SELECT 1 FROM assets) OR EXISTS (SELECT 1 FROM asset_uploads)
      """.except([.everyDatabase, .wholeTable])
    let unheldBytes: Statement = """
      SELECT CAST(COALESCE(SUM(size), 0) AS BIGINT) FROM assets
      WHERE database_id = $1 AND released IS NOT NULL
      """
    let add: Statement = """
      INSERT INTO assets (database_id, checksum, file, size, released) VALUES ($1, $2, $3, $4, 0)
      ON CONFLICT (database_id, checksum) DO NOTHING
      """
    let addReference: Statement = """
      INSERT INTO asset_references (database_id, checksum, record_number, field_name)
      VALUES ($1, $2, $3, $4)
      """
    let hold: Statement =
      "UPDATE assets SET released = NULL WHERE database_id = $1 AND checksum = $2"
    let removeReference: Statement = """
      DELETE FROM asset_references WHERE database_id = $1 AND checksum = $2
        AND record_number = $3 AND field_name = $4
      """
    let release: Statement = """
      UPDATE assets SET released = 0 WHERE database_id = $1 AND checksum = $2
        AND released IS NULL AND NOT EXISTS (
          SELECT 1 FROM asset_references
          WHERE asset_references.database_id = $1 AND asset_references.checksum = $2)
      RETURNING size
      """
    let orphans = """
      SELECT database_id, checksum, file FROM assets
      WHERE released IS NOT NULL AND (database_id, checksum) > ($1, $2)
      ORDER BY database_id, checksum LIMIT $3
      """.except(.everyDatabase)
    let released: Statement = """
      SELECT released FROM assets
      WHERE database_id = $1 AND checksum = $2 AND released IS NOT NULL AND NOT EXISTS (
        SELECT 1 FROM asset_uploads WHERE asset_uploads.database_id = assets.database_id
          AND asset_uploads.checksum = assets.checksum)
      """
    let setReleased: Statement =
      "UPDATE assets SET released = $3 WHERE database_id = $1 AND checksum = $2"
    let remove: Statement = "DELETE FROM assets WHERE database_id = $1 AND checksum = $2"
    let dropUnheld: Statement = """
      DELETE FROM assets WHERE database_id = $1 AND checksum = $2 AND released IS NOT NULL
        AND NOT EXISTS (
          SELECT 1 FROM asset_uploads
          WHERE asset_uploads.database_id = $1 AND asset_uploads.checksum = $2)
      RETURNING file
      """
    let dropSome: Statement = """
      DELETE FROM assets WHERE database_id = $1 AND checksum IN (
        SELECT checksum FROM assets WHERE database_id = $1 LIMIT $2)
      RETURNING file
      """
    let dispose: Statement = """
      INSERT INTO asset_disposals (database_id, file) VALUES ($1, $2)
      ON CONFLICT (database_id, file) DO NOTHING
      """
    let disposeFile: Statement = """
      INSERT INTO asset_disposals (database_id, file)
      SELECT $1, $2 WHERE NOT EXISTS (
        SELECT 1 FROM asset_uploads JOIN assets ON assets.database_id = asset_uploads.database_id
          AND assets.checksum = asset_uploads.checksum
        WHERE asset_uploads.database_id = $1 AND asset_uploads.receipt = $2
          AND assets.file = $2)
      ON CONFLICT (database_id, file) DO NOTHING
      """
    let disposable: Statement = "SELECT file FROM asset_disposals WHERE database_id = $1 LIMIT $2"
    let disposableAnywhere = "SELECT database_id, file FROM asset_disposals LIMIT $1".except([
      .everyDatabase, .wholeTable,
    ])
    let forgetDisposal: Statement =
      "DELETE FROM asset_disposals WHERE database_id = $1 AND file = $2"
  }
  static let sql = Statements()
}

/// A file that no record held when it was read.
struct OrphanAsset: InDatabase {
  var database: DatabaseID
  var checksum: String
  var file: String

  init(row: any SQLRow) {
    database = row.database(0)
    checksum = row.text(1)
    file = row.text(2)
  }
}
