import CloudKitModel

/// The uploads of assets, the receipts for uploaded files, and the records that hold each file. An
/// asset is a file. A record holds the file if one of its fields has the asset. A receipt is a text
/// with which a user may save the file in a record.
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
/// record and field of the database, but also for one user only. Equal files of one database are
/// stored once.
///
/// ``Maintenance/trim(at:)`` deletes a file that no record holds and no receipt names. It deletes a
/// receipt a day after ``AssetUpload/expires``. The file stays for at least an hour after the first
/// trim that found the file without a record and a receipt. So downloads under way can finish.
public protocol AssetRegistry: Sendable {
  /// The storage of the bytes.
  var files: any AssetStore { get }

  /// Returns the database that stores the files of a zone: for a zone of a shared database, the
  /// owner's private database.
  ///
  /// - Throws: ``ItemFailure`` with ``ItemFailure/Code/zoneNotFound`` if the zone does not exist, and
  ///   with ``ItemFailure/Code/accessDenied`` if the user of a shared database may not write in it.
  func databaseOfFiles(inZone zoneID: ZoneID, of database: DatabaseID) async throws -> DatabaseID
  /// Announces uploads into the database of ``databaseOfFiles(inZone:of:)``.
  ///
  /// - Throws: ``ItemFailure/Code/zoneNotFound`` as an ``ItemFailure`` if the zone does not exist;
  ///   ``StoreError/Code/userDeleted`` if the user of an upload is being deleted or was deleted
  ///   recently.
  func addAssetUploads(
    _ uploads: [AssetUpload], inZone zoneID: ZoneID, of database: DatabaseID) async throws
  /// Returns the upload whose URL has the secret with this hash; nil if there is none. The upload
  /// may have expired. The store deletes an upload at least a day after ``AssetUpload/expires``.
  ///
  /// - Parameter hash: the SHA-256 of the secret in the upload's URL.
  /// - Throws: ``ItemFailure`` with ``ItemFailure/Code/accessDenied`` if the database is of another
  ///   user, in which the user of the upload may not write any more.
  func assetUpload(
    withTokenHash hash: [UInt8], in database: DatabaseID
  ) async throws -> AssetUpload?
  /// Stores the uploaded bytes of an announced upload. The bytes are durable when the call returns.
  /// A second call with the same bytes changes nothing.
  ///
  /// - Parameter check: gets the storage that the database would use with the file, and throws if
  ///   this is too much. The function runs in the transaction that registers the file, so
  ///   concurrent uploads are counted together. The function does not run for a shared database, or
  ///   if the database has an equal file already.
  /// - Throws: ``ItemFailure`` with ``ItemFailure/Code/notFound`` if there is no such upload, and
  ///   with ``ItemFailure/Code/conflict`` if the upload was finished with other bytes; the error of
  ///   `check`; ``StoreError/Code/assetFailed`` if the bytes cannot be stored.
  func finishAssetUpload(
    withReceipt receipt: String, in database: DatabaseID, bytes: AssetBytes, file: AssetFile,
    check: @escaping @Sendable (DatabaseUsage) throws -> Void
  ) async throws
  /// Issues receipts for assets that records hold, so that the user can save the assets in other
  /// records without an upload. The user must be allowed to read the records. Each asset of a list
  /// gets a receipt of its own. The call issues all receipts or none.
  ///
  /// - Throws: ``ItemFailure`` if a zone or a record does not exist, if a field holds no asset, or
  ///   if the user may not read a record; ``StoreError/Code/userDeleted`` if the user is being
  ///   deleted or was deleted recently.
  func rereferenceAssets(
    _ places: [AssetPlace], inZone zoneID: ZoneID, of database: DatabaseID, for user: String,
    timestamp: Timestamp, makeReceipt: @escaping @Sendable () -> String
  ) async throws -> [Asset]
  /// Returns the name of the database's file with this checksum; nil if the database has no such
  /// file. The result does not depend on whether a record holds the file.
  ///
  /// In a shared database, a record that the user sees must hold the file.
  ///
  /// - Parameters:
  ///   - checksum: as in ``AssetFile/checksum``.
  ///   - sight: how the user of a shared database sees the record; otherwise nil.
  func assetName(
    forChecksum checksum: String, seenBy sight: FileSight?, in database: DatabaseID
  ) async throws -> AssetName?
}

/// How the user of a shared database sees a record that holds a file.
public enum FileSight: Sendable, Hashable {
  /// As a participant of the shares in zones of this owner.
  case zones(ofOwner: String)
  /// As the share, or its root, that a link shows before the user accepts
  /// (`TokenCipher.shareOfFile(named:)`).
  case invitation(String)
}
