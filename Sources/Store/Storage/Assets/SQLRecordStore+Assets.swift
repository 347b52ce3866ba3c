import CloudKitModel
import StoreModel

extension SQLRecordStore {
  public func addAssetUploads(
    _ uploads: [AssetUpload], inZone zoneID: ZoneID, of database: DatabaseID
  ) async throws {
    try await write(locking: .database(database)) { session in
      _ = try session.existingZone(zoneID, of: database)
      for upload in uploads {
        try UserDeletionTable(session: session).refuseDeleted(upload.userRecordName)
        try session.add(upload, to: database)
      }
    }
  }

  public func assetUpload(
    withTokenHash hash: [UInt8], in database: DatabaseID
  ) async throws -> AssetUpload? {
    try await read {
      try $0.connection.first(
        """
        SELECT receipt, user_record_name, record_name, record_type, field_name, expires, checksum,
          size
        FROM asset_uploads WHERE database_id = $1 AND token_hash = $2
        """, [.integer(database.rawValue), .bytes(hash)]
      ) { row in
        AssetUpload(
          receipt: row.text(0), tokenHash: hash, userRecordName: row.text(1),
          recordName: row.optionalText(2), recordType: row.text(3), fieldName: row.text(4),
          expires: Timestamp(milliseconds: row.integer(5)),
          file: row.optionalText(6).map { AssetFile(checksum: $0, size: row.integer(7)) })
      }
    }
  }

  public func finishAssetUpload(
    withReceipt receipt: String, in database: DatabaseID, bytes: AssetBytes, file: AssetFile,
    check: @escaping @Sendable (DatabaseUsage) throws -> Void
  ) async throws {
    // From the claim on the receipt keeps a file with this checksum from being dropped.
    let isKept = try await write(locking: .database(database)) {
      try $0.claim(receipt, in: database, for: file)
    }
    guard !isKept else { return }
    try await assets.keep(bytes, as: AssetName(database: database, file: receipt))
    do {
      try await write(locking: .database(database)) { session in
        guard try session.addAsset(file, named: receipt, to: database) else { return }
        if let usage = try session.usage(of: database) { try check(usage) }
      }
    } catch {
      // Where this fails, too, the file goes with the leftovers; what matters is the first error.
      try? await write(locking: .database(database)) {
        try $0.disposeOfAssetFile(named: receipt, unlessKeptIn: database)
      }
      throw error
    }
  }

  public func rereferenceAssets(
    _ places: [AssetPlace], inZone zoneID: ZoneID, of database: DatabaseID, for user: String,
    timestamp: Timestamp, makeReceipt: @escaping @Sendable () -> String
  ) async throws -> [Asset] {
    try await write(locking: .database(database)) { session in
      try UserDeletionTable(session: session).refuseDeleted(user)
      let zoneNumber = try session.existingZone(zoneID, of: database)
      return try places.flatMap { place in
        try session.assets(
          at: place, inZone: zoneNumber, of: database, for: user
        ).map { asset in
          var asset = asset
          let receipt = makeReceipt()
          asset.receipt = receipt
          try session.addReceipt(receipt, for: asset, of: user, at: timestamp, to: database)
          return asset
        }
      }
    }
  }

  public func assetName(
    forChecksum checksum: String, in database: DatabaseID
  ) async throws -> AssetName? {
    try await read {
      try $0.connection.first(
        "SELECT file FROM assets WHERE database_id = $1 AND checksum = $2",
        [.integer(database.rawValue), .text(checksum)]
      ) { AssetName(database: database, file: $0.text(0)) }
    }
  }

  public func secret(named name: String, proposing proposed: [UInt8]) async throws -> [UInt8] {
    try await write(locking: .reference) { try $0.secret(named: name, proposing: proposed) }
  }
}

extension StoreSession {
  func secret(named name: String, proposing proposed: [UInt8]) throws -> [UInt8] {
    try connection.run(
      "INSERT INTO secrets (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING",
      [.text(name), .bytes(proposed)])
    return try connection.first(
      "SELECT value FROM secrets WHERE name = $1", [.text(name)]
    ) { $0.bytes(0) } ?? proposed
  }

  /// The number of a zone that must exist.
  fileprivate func existingZone(_ zoneID: ZoneID, of database: DatabaseID) throws -> Int64 {
    let canonical = try address(of: database).canonical(zoneID)
    guard let number = try zoneNumber(of: canonical, in: database) else {
      throw ItemFailure(.zoneNotFound, "there is no zone '\(zoneID)'; create it first")
    }
    return number
  }

  fileprivate func add(_ upload: AssetUpload, to database: DatabaseID) throws {
    try connection.run(
      """
      INSERT INTO asset_uploads (database_id, receipt, token_hash, user_record_name, record_name,
        record_type, field_name, expires)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
      """,
      [
        .integer(database.rawValue), .text(upload.receipt), .bytes(upload.tokenHash),
        .text(upload.userRecordName), SQLValue(upload.recordName), .text(upload.recordType),
        .text(upload.fieldName), .integer(upload.expires.milliseconds),
      ])
  }

  /// Binds the receipt to what was uploaded; tells whether such a file is kept already.
  fileprivate func claim(
    _ receipt: String, in database: DatabaseID, for file: AssetFile
  ) throws -> Bool {
    let upload = try connection.first(
      "SELECT checksum FROM asset_uploads WHERE database_id = $1 AND receipt = $2",
      [.integer(database.rawValue), .text(receipt)]
    ) { $0.optionalText(0) }
    guard let upload else {
      throw ItemFailure(.notFound, "there is no such upload any more; ask for a new URL")
    }
    if let checksum = upload, checksum != file.checksum {
      throw ItemFailure(
        .conflict, "the upload URL was used for another file; each file needs a URL of its own")
    }
    try connection.run(
      """
      UPDATE asset_uploads SET checksum = $3, size = $4 WHERE database_id = $1 AND receipt = $2
      """,
      [
        .integer(database.rawValue), .text(receipt), .text(file.checksum), .integer(file.size),
      ])
    return try connection.first(
      "SELECT 1 FROM assets WHERE database_id = $1 AND checksum = $2",
      [.integer(database.rawValue), .text(file.checksum)]
    ) { _ in true } ?? false
  }

  /// Makes a file known that was kept under this name. When another upload was quicker with the
  /// same bytes, its file stays and this one goes.
  ///
  /// - Returns: whether it is this one.
  fileprivate func addAsset(
    _ file: AssetFile, named name: String, to database: DatabaseID
  ) throws -> Bool {
    // The user who uploads it may have been deleted while the file was written.
    let isExpected = try connection.first(
      "SELECT 1 FROM asset_uploads WHERE database_id = $1 AND receipt = $2",
      [.integer(database.rawValue), .text(name)]
    ) { _ in true }
    guard isExpected != nil else {
      throw ItemFailure(.notFound, "there is no such upload any more; ask for a new URL")
    }
    let added = try connection.run(
      """
      INSERT INTO assets (database_id, checksum, file, size, released) VALUES ($1, $2, $3, $4, 0)
      ON CONFLICT (database_id, checksum) DO NOTHING
      """,
      [
        .integer(database.rawValue), .text(file.checksum), .text(name), .integer(file.size),
      ])
    guard added == 0 else { return true }
    try disposeOfAssetFile(named: name, unlessKeptIn: database)
    return false
  }

  /// Marks a file for removal, unless it is the one that is kept for its bytes.
  func disposeOfAssetFile(named name: String, unlessKeptIn database: DatabaseID) throws {
    try connection.run(
      """
      INSERT INTO asset_disposals (database_id, file)
      SELECT $1, $2 WHERE NOT EXISTS (
        SELECT 1 FROM asset_uploads JOIN assets ON assets.database_id = asset_uploads.database_id
          AND assets.checksum = asset_uploads.checksum
        WHERE asset_uploads.database_id = $1 AND asset_uploads.receipt = $2
          AND assets.file = $2)
      ON CONFLICT (database_id, file) DO NOTHING
      """, [.integer(database.rawValue), .text(name)])
  }

  /// The assets that a field holds; at least one.
  fileprivate func assets(
    at place: AssetPlace, inZone zoneNumber: Int64, of database: DatabaseID, for user: String
  ) throws -> [Asset] {
    guard
      let stored = try storedRecord(
        named: place.recordName, inZone: zoneNumber, of: database)
    else {
      throw ItemFailure(.notFound, "there is no record '\(place.recordName)'")
    }
    let access = try access(
      of: user, toType: stored.record.recordType, at: try address(of: database))
    guard access.mayRead(stored.record) else {
      throw ItemFailure(
        .accessDenied,
        "record '\(place.recordName)' cannot be read: no role of this caller has READ for it")
    }
    let assets = stored.record.fields[place.fieldName]?.assets ?? []
    guard !assets.isEmpty else {
      throw ItemFailure(
        .invalid, field: place.fieldName,
        "field '\(place.fieldName)' of record '\(place.recordName)' holds no asset")
    }
    return assets
  }

  fileprivate func addReceipt(
    _ receipt: String, for asset: Asset, of user: String, at timestamp: Timestamp,
    to database: DatabaseID
  ) throws {
    try connection.run(
      """
      INSERT INTO asset_uploads (database_id, receipt, user_record_name, expires, checksum, size)
      VALUES ($1, $2, $3, $4, $5, $6)
      """,
      [
        .integer(database.rawValue), .text(receipt), .text(user),
        .integer(timestamp.milliseconds), .text(asset.fileChecksum), .integer(asset.size),
      ])
  }
}
