import CloudKitModel
import SQLEngine
import StoreModel

/// The assets of databases: the uploads, the receipts with which a user may save a file in a
/// record, and the records that hold each file. A record holds a file if one of its fields has the
/// asset.
///
/// The tables have the names and sizes of files, and the records that hold them. The bytes are in
/// ``files``, outside of the store's transactions. Two rules keep the tables and the bytes
/// consistent:
///
/// - A file's bytes are durable before its row in `assets` is committed.
/// - The row is deleted, and the file is marked for deletion, before the bytes are removed.
///
/// So a file with a row always has its bytes. A file with bytes but without a row has an upload or
/// a mark, by which a later trim finds and removes it.
struct AssetService: AssetRegistry {
  let transactions: Transactions
  /// The storage of the bytes: a folder, or the memory for a store in memory.
  let files: any AssetStore

  /// Returns the database that stores the files of a zone.
  func databaseOfFiles(
    inZone zoneID: ZoneID, of database: DatabaseID
  ) async throws -> DatabaseID {
    try await transactions.read { transaction in
      guard let shared = try SharedDatabase.at(database, in: transaction) else { return database }
      let zone = try shared.existingZone(zoneID)
      guard zone.memberships.contains(where: \.mayWrite) else {
        throw ItemFailure(
          .accessDenied, field: "zoneID",
          "zone '\(zoneID)' is shared with this user for reading only; no files can be uploaded")
      }
      return zone.database
    }
  }

  /// Adds uploads that clients may begin, in one transaction.
  ///
  /// - Throws: ``ItemFailure`` with ``ItemFailure/Code/zoneNotFound`` if the zone does not exist;
  ///   ``StoreError/Code/userDeleted`` if the user of an upload is being deleted or was deleted
  ///   recently. No upload is added then.
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

  /// Returns the upload whose URL contains the secret with this SHA-256; nil if there is none. The
  /// upload may have expired.
  ///
  /// - Throws: ``ItemFailure`` with ``ItemFailure/Code/accessDenied`` if the files of the database
  ///   count for another user, who shares nothing with the user of the upload for writing any more.
  func assetUpload(
    withTokenHash hash: [UInt8], in database: DatabaseID
  ) async throws -> AssetUpload? {
    try await transactions.read { transaction in
      guard
        let upload = try AssetUploadTable(transaction: transaction)
          .upload(withTokenHash: hash, in: database)
      else { return nil }
      var address = try DatabaseTable(transaction: transaction).address(of: database)
      guard let owner = address.owner, owner != upload.userRecordName else { return upload }
      address.scope = .shared
      address.owner = upload.userRecordName
      let shared = SharedDatabase(address: address, transaction: transaction)
      guard
        try shared.zones().contains(where: {
          $0.database == database && $0.memberships.contains(where: \.mayWrite)
        })
      else {
        throw ItemFailure(
          .accessDenied, field: upload.fieldName,
          "the owner of the zone shares nothing with this user for writing any more")
      }
      return upload
    }
  }

  /// Stores the bytes of an upload, in three steps:
  ///
  /// 1. A transaction stores the file's checksum and size with the receipt.
  /// 2. ``files`` stores the bytes. The method ends before this step if the database has an equal
  ///    file already.
  /// 3. A transaction registers the file in `assets`.
  ///
  /// If step 3 fails, the file is marked for deletion. If the commit of step 3 has an unknown
  /// outcome, the file may be registered nevertheless: a registered file gets no mark.
  ///
  /// - Parameter check: gets the database's usage with the new file. If the function throws, the
  ///   file is not registered. The function does not run for a shared database, or if the database
  ///   has an equal file already.
  /// - Throws: the errors of ``AssetUploadTable/claim(_:in:for:)`` and
  ///   ``AssetTable/add(_:named:to:)``; ``StoreError/Code/assetFailed`` if the bytes cannot be
  ///   stored; the error of `check`.
  func finishAssetUpload(
    withReceipt receipt: String, in database: DatabaseID, bytes: AssetBytes, file: AssetFile,
    check: @escaping @Sendable (DatabaseUsage) throws -> Void
  ) async throws {
    // From this commit on, the receipt names the checksum, so no trim deletes a file with this
    // checksum.
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
      // A failure is ignored: the deletion of the expired upload's row marks the file later. The
      // caller gets the first error.
      try? await transactions.write(locking: .database(database)) {
        try AssetTable(transaction: $0).dispose(ofFile: receipt, unlessKeptIn: database)
      }
      throw error
    }
  }

  /// Issues new receipts for assets that records hold, in one transaction: all of them or none.
  ///
  /// With such a receipt, the user may save the asset in another record without uploading the file
  /// again. The user must be allowed to read each record.
  ///
  /// - Returns: the assets with their receipts, in the order of `places`. A field with a list of
  ///   assets adds all assets of the list.
  /// - Throws: ``ItemFailure`` if a zone, a record or an asset does not exist, or the user may not
  ///   read a record; ``StoreError/Code/userDeleted`` if the user is being deleted or was deleted
  ///   recently.
  func rereferenceAssets(
    _ places: [AssetPlace], inZone zoneID: ZoneID, of database: DatabaseID, for user: String,
    timestamp: Timestamp, makeReceipt: @escaping @Sendable () -> String
  ) async throws -> [Asset] {
    let files = try await transactions.read { transaction in
      try SharedDatabase.at(database, in: transaction)?.existingZone(zoneID).database ?? database
    }
    return try await transactions.write(locking: .database(files)) { transaction in
      try UserDeletionTable(transaction: transaction).refuseDeleted(user)
      let shared = try SharedDatabase.at(database, in: transaction)?.existingZone(zoneID)
      let zoneNumber =
        try shared?.number
        ?? ZoneTable(transaction: transaction).existingNumber(of: zoneID, in: files)
      return try places.flatMap { place in
        try RecordTable(transaction: transaction).assets(
          at: place, inZone: zoneNumber, of: files, seenIn: shared, for: user
        ).map { asset in
          var asset = asset
          let receipt = makeReceipt()
          asset.receipt = receipt
          try AssetUploadTable(transaction: transaction).addReceipt(
            receipt, for: asset, of: user, at: timestamp, to: files)
          return asset
        }
      }
    }
  }

  /// Returns the name of a database's file with this SHA-256; nil if there is none, or if the user of
  /// a shared database sees no record that holds the file.
  func assetName(
    forChecksum checksum: String, seenBy sight: FileSight?, in database: DatabaseID
  ) async throws -> AssetName? {
    try await transactions.read { transaction in
      let assets = AssetTable(transaction: transaction)
      guard let shared = try SharedDatabase.at(database, in: transaction) else {
        return try assets.name(forChecksum: checksum, in: database)
      }
      let files: DatabaseID
      let isVisible: (_ record: Int64, _ zone: Int64) throws -> Bool
      switch sight {
      case nil: return nil
      case .zones(let owner):
        let zones = try shared.zones().filter { $0.naming.owner == owner }
        guard let zone = zones.first else { return nil }
        files = zone.database
        isVisible = { record, number in
          try zones.contains { try $0.number == number && $0.membership(ofRecord: record) != nil }
        }
      case .invitation(let name):
        guard let link = transaction.context.tokens.shareOfFile(named: name),
          let found = try shared.shareSearch.visible(link)
        else { return nil }
        files = found.database
        isVisible = { record, _ in record == found.share.number || record == found.share.root }
      }
      guard try assets.holders(ofChecksum: checksum, in: files).contains(where: isVisible)
      else { return nil }
      return try assets.name(forChecksum: checksum, in: files)
    }
  }
}
