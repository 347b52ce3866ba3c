import CloudKitModel
import StoreModel

/// The uploads of assets, the receipts for uploaded files, and the records that hold each file. A
/// record *holds* a file if one of its fields has the asset. A *receipt* is a text with which a
/// user may save the file in a record.
///
/// An asset goes through three steps:
///
/// 1. The client announces an upload: ``addAssetUploads(_:inZone:of:)``.
/// 2. The client uploads the file, and gets the receipt:
///    ``finishAssetUpload(withReceipt:in:bytes:file:check:)``.
/// 3. The client saves a record with the receipt, for the same user. The field and the record type
///    must be those of the announcement. If the announcement named a record, only this record may
///    have the file.
///
/// A receipt of ``rereferenceAssets(_:inZone:of:for:timestamp:makeReceipt:)`` is valid for any
/// record and field of the database, for one user. Equal files of one database are stored once.
///
/// The bytes are in ``files``, outside of the store's transactions. Two rules keep the tables and
/// the bytes consistent:
///
/// - A file's bytes are durable before its row in `assets` is committed.
/// - The row is deleted, and the file is marked for deletion, before the bytes are removed.
///
/// So a file with a row always has its bytes. A file with bytes but without a row has an upload or
/// a mark, by which a later trim finds and removes it.
///
/// ``MaintenanceService/trim(at:)`` deletes a receipt a day after ``AssetUpload/expires``. It
/// deletes a file that no record holds and no receipt names at least an hour after the first trim
/// that found it so. Downloads under way can therefore finish.
public struct AssetService: Sendable {
  let transactions: Transactions
  /// A folder, or the memory for a store in memory.
  public let files: any AssetStore

  /// Returns the database that stores the files of a zone: for a zone of a shared database, the
  /// owner's private database.
  ///
  /// - Throws: ``ItemFailure/Code/zoneNotFound`` as an ``ItemFailure`` if the zone does not exist;
  ///   ``ItemFailure/Code/accessDenied`` if the user of a shared database may not write in it.
  public func databaseOfFiles(
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

  /// Announces uploads into the database of ``databaseOfFiles(inZone:of:)``.
  ///
  /// - Throws: ``ItemFailure/Code/zoneNotFound`` as an ``ItemFailure`` if the zone does not exist;
  ///   ``StoreError/Code/userDeleted`` if the user of an upload is being deleted or was deleted
  ///   recently.
  public func addAssetUploads(
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

  /// Returns the upload whose URL has the secret with this SHA-256. The upload may have expired.
  /// - Throws: ``ItemFailure`` with ``ItemFailure/Code/accessDenied`` if the database is of another
  ///   user, in which the user of the upload may not write any more.
  public func assetUpload(
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

  /// Stores the uploaded bytes of an announced upload durably. A second call with the same bytes
  /// changes nothing.
  ///
  /// - Parameter check: gets the storage that the database would use with the file, and throws if
  ///   this is too much. The function runs in the transaction that registers the file, so
  ///   concurrent uploads are counted together. The function does not run for a shared database, or
  ///   if the database has an equal file already.
  /// - Throws: ``ItemFailure`` with ``ItemFailure/Code/notFound`` if there is no such upload, and
  ///   with ``ItemFailure/Code/conflict`` if the upload was finished with other bytes; the error of
  ///   `check`; ``StoreError/Code/assetFailed`` if the bytes cannot be stored.
  public func finishAssetUpload(
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

  /// Issues receipts for assets that records hold, so that the user can save the assets in other
  /// records without an upload. Each asset of a list gets a receipt of its own. The call issues all
  /// receipts or none.
  ///
  /// - Throws: ``ItemFailure`` if a zone or a record does not exist, if a field holds no asset, or
  ///   if the user may not read a record; ``StoreError/Code/userDeleted`` if the user is being
  ///   deleted or was deleted recently.
  public func rereferenceAssets(
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

  /// Returns the name of the database's file with this checksum, whether a record holds the file or
  /// not. In a shared database, a record that the user sees must hold the file.
  ///
  /// - Parameter sight: how the user of a shared database sees the record; otherwise nil.
  public func assetName(
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
