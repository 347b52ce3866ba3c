import CloudKitModel
import SQLEngine
import StoreModel

/// Assets: uploads, receipts, and the records that hold each file.
struct AssetService: AssetRegistry {
  let transactions: Transactions
  let files: any AssetStore

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

  func assetUpload(
    withTokenHash hash: [UInt8], in database: DatabaseID
  ) async throws -> AssetUpload? {
    try await transactions.read {
      try AssetUploadTable(transaction: $0).upload(withTokenHash: hash, in: database)
    }
  }

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
      // A failure is ignored: the file is then removed with the leftovers, and the first error is
      // thrown.
      try? await transactions.write(locking: .database(database)) {
        try AssetTable(transaction: $0).dispose(ofFile: receipt, unlessKeptIn: database)
      }
      throw error
    }
  }

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

  func assetName(
    forChecksum checksum: String, in database: DatabaseID
  ) async throws -> AssetName? {
    try await transactions.read {
      try AssetTable(transaction: $0).name(forChecksum: checksum, in: database)
    }
  }

}
