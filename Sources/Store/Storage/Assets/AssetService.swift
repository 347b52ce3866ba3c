import CloudKitModel
import SQLEngine
import StoreModel

/// The assets of databases: uploads, receipts, and the records that hold each file.
///
/// The tables know the names, sizes and holders of files. The bytes are in ``files``, outside of
/// the store's transactions. Two rules keep the two in step:
///
/// - A file's bytes are durable before its row in `assets` is committed.
/// - The row is deleted, and the file marked, before the bytes are removed.
///
/// So a row always has its bytes. Bytes without a row are found by their upload or by their mark.
struct AssetService: AssetRegistry {
  let transactions: Transactions
  /// The storage of the bytes: a folder, or memory for a store in memory.
  let files: any AssetStore

  /// Announces uploads, in one transaction.
  ///
  /// - Throws: ``ItemFailure`` if the zone does not exist, and ``StoreError/Code/userDeleted``. No
  ///   upload is announced then.
  func addAssetUploads(
    _ uploads: [AssetUpload], inZone zoneID: ZoneID, of database: DatabaseID
  ) async throws {
    try await transactions.write(locking: .database(database)) { transaction in
      _ = try ZoneTable(transaction: transaction).existingNumber(of: zoneID, in: database)
      for upload in uploads {
        try UserDeletionTable(transaction: transaction).refuseDeleted(upload.userRecordName)
        try AssetUploadTable(transaction: transaction).add(upload, to: database)
      }
    }
  }

  /// Returns the upload with the secret whose SHA-256 is `hash`; nil if there is none. The upload
  /// may have expired.
  func assetUpload(
    withTokenHash hash: [UInt8], in database: DatabaseID
  ) async throws -> AssetUpload? {
    try await transactions.read {
      try AssetUploadTable(transaction: $0).upload(withTokenHash: hash, in: database)
    }
  }

  /// Stores the bytes of an upload in three steps: a transaction that binds the receipt to the
  /// file, the write of the file, and a transaction that registers it.
  ///
  /// The bytes are not written if the database has an equal file. If the last transaction fails,
  /// the file is marked for deletion. If that transaction's commit has an unknown outcome, the file
  /// may be registered after all. It then gets no mark.
  ///
  /// - Parameter check: gets the database's usage with the new file; if it throws, the file is not
  ///   registered. The function does not run for an equal file that is stored already.
  func finishAssetUpload(
    withReceipt receipt: String, in database: DatabaseID, bytes: AssetBytes, file: AssetFile,
    check: @escaping @Sendable (DatabaseUsage) throws -> Void
  ) async throws {
    // Once the receipt is claimed, it keeps a file with this checksum from being deleted.
    let isKept = try await transactions.write(locking: .database(database)) {
      try AssetUploadTable(transaction: $0).claim(receipt, in: database, for: file)
    }
    guard !isKept else { return }
    try await files.keep(bytes, as: AssetName(database: database, file: receipt))
    do {
      try await transactions.write(locking: .database(database)) { transaction in
        guard try AssetTable(transaction: transaction).add(file, named: receipt, to: database)
        else {
          return
        }
        if let usage = try DatabaseUsage(of: database, in: transaction) { try check(usage) }
      }
    } catch {
      // A failure is ignored: the file is marked later, when the row of its expired upload is
      // deleted. The first error is thrown.
      try? await transactions.write(locking: .database(database)) {
        try AssetTable(transaction: $0).dispose(ofFile: receipt, unlessKeptIn: database)
      }
      throw error
    }
  }

  /// Issues new receipts for assets that records hold, in one transaction: all of them or none.
  ///
  /// With such a receipt, the user may save the asset in another record without uploading it again.
  /// The user must be allowed to read each record.
  ///
  /// - Returns: the assets with their receipts, in the order of `places`. A list contributes all
  ///   its assets.
  func rereferenceAssets(
    _ places: [AssetPlace], inZone zoneID: ZoneID, of database: DatabaseID, for user: String,
    timestamp: Timestamp, makeReceipt: @escaping @Sendable () -> String
  ) async throws -> [Asset] {
    try await transactions.write(locking: .database(database)) { transaction in
      try UserDeletionTable(transaction: transaction).refuseDeleted(user)
      let zoneNumber = try ZoneTable(transaction: transaction).existingNumber(
        of: zoneID, in: database)
      return try places.flatMap { place in
        try RecordTable(transaction: transaction).assets(
          at: place, inZone: zoneNumber, of: database, for: user
        ).map { asset in
          var asset = asset
          let receipt = makeReceipt()
          asset.receipt = receipt
          try AssetUploadTable(transaction: transaction).addReceipt(
            receipt, for: asset, of: user, at: timestamp, to: database)
          return asset
        }
      }
    }
  }

  /// Returns the name of a database's file with this SHA-256; nil if there is none.
  func assetName(
    forChecksum checksum: String, in database: DatabaseID
  ) async throws -> AssetName? {
    try await transactions.read {
      try AssetTable(transaction: $0).name(forChecksum: checksum, in: database)
    }
  }

}
