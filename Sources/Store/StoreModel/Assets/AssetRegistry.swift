import CloudKitModel

/// The record store's knowledge of assets: uploads under way, receipts, and the records that hold
/// each file.
///
/// An asset goes through three steps:
///
/// 1. The client announces an upload: ``addAssetUploads(_:inZone:of:)``.
/// 2. The client uploads the file, and gets a receipt:
///   ``finishAssetUpload(withReceipt:in:bytes:file:check:)``.
/// 3. The client saves a record with the receipt. Only the same user can do so. The field, the
///   record type and, if the announcement named one, the record must be the announced ones.
///
/// A receipt of ``rereferenceAssets(_:inZone:of:for:timestamp:makeReceipt:)`` is bound to its user
/// only. Equal files of one database are stored once. ``Maintenance/trim(at:)`` deletes a file that
/// no record holds and no receipt of the last day names. The deletion comes an hour after the call
/// that first found the file unheld, so that downloads under way can finish.
public protocol AssetRegistry: Sendable {
  /// The storage of the bytes.
  var files: any AssetStore { get }

  /// Announces uploads into the database.
  ///
  /// - Throws: ``ItemFailure`` when the zone does not exist.
  func addAssetUploads(
    _ uploads: [AssetUpload], inZone zoneID: ZoneID, of database: DatabaseID) async throws
  /// Returns the upload with this token. It is nil if there is none, or if the store has deleted
  /// the upload, a day after ``AssetUpload/expires``.
  ///
  /// - Parameter hash: the SHA-256 of the secret in the upload's URL.
  func assetUpload(
    withTokenHash hash: [UInt8], in database: DatabaseID
  ) async throws -> AssetUpload?
  /// Keeps the uploaded bytes, durably when the call returns. A repeat with the same bytes changes
  /// nothing.
  ///
  /// - Parameter check: gets the usage of a private or public database with the file, and throws if
  ///   the usage is too large. It runs in the transaction that registers the file, so that
  ///   concurrent uploads are counted together. It does not run for a file that the database
  ///   already has.
  /// - Throws: ``ItemFailure`` if there is no such upload, or if it was finished with other bytes.
  func finishAssetUpload(
    withReceipt receipt: String, in database: DatabaseID, bytes: AssetBytes, file: AssetFile,
    check: @escaping @Sendable (DatabaseUsage) throws -> Void
  ) async throws
  /// Issues receipts for assets that records hold, so that other records may hold them too. A list
  /// of assets has a receipt for each. The call issues all receipts or none.
  ///
  /// - Throws: ``ItemFailure`` naming the record and the field that is missing or holds no asset.
  func rereferenceAssets(
    _ places: [AssetPlace], inZone zoneID: ZoneID, of database: DatabaseID, for user: String,
    timestamp: Timestamp, makeReceipt: @escaping @Sendable () -> String
  ) async throws -> [Asset]
  /// Returns the name of the database's file with this checksum, whether a record holds the file or
  /// not; nil if the database has none.
  ///
  /// - Parameter checksum: as in ``AssetFile/checksum``.
  func assetName(forChecksum checksum: String, in database: DatabaseID) async throws -> AssetName?
}
