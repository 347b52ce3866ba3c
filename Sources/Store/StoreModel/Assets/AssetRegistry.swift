import CloudKitModel

/// What the record store knows of assets: uploads under way, receipts, and which record holds what.
///
/// A file comes into being by an upload that was announced (``addAssetUploads(_:inZone:of:)``). Its
/// receipt lets the same user save it in the announced field. Equal files of one database are kept
/// once. A file that no record holds, and no receipt of the last day names, is dropped by
/// ``Maintenance/trim(at:)``, an hour after that was first seen, so that downloads under way end.
public protocol AssetRegistry: Sendable {
  /// Where the bytes lie.
  var files: any AssetStore { get }

  /// Announces uploads into the database.
  ///
  /// - Throws: ``ItemFailure`` when the zone does not exist.
  func addAssetUploads(
    _ uploads: [AssetUpload], inZone zoneID: ZoneID, of database: DatabaseID) async throws
  /// The upload with this token; nil when there is none, or none any more.
  func assetUpload(
    withTokenHash hash: [UInt8], in database: DatabaseID
  ) async throws -> AssetUpload?
  /// Keeps what was uploaded; durable when the call returns. Doing it again with the same bytes
  /// changes nothing.
  ///
  /// - Parameter check: throws where a private database would hold too much with the file: called in the
  ///   transaction that makes the file known, so that uploads at the same moment are counted together.
  /// - Throws: ``ItemFailure`` when there is no such upload, or when it was finished with other
  ///   bytes.
  func finishAssetUpload(
    withReceipt receipt: String, in database: DatabaseID, bytes: AssetBytes, file: AssetFile,
    check: @escaping @Sendable (DatabaseUsage) throws -> Void
  ) async throws
  /// Gives receipts for assets that records hold, so that other records may hold them too. A list
  /// of assets has a receipt for each. All or none.
  ///
  /// - Throws: ``ItemFailure`` naming the record and the field that is missing or holds no asset.
  func rereferenceAssets(
    _ places: [AssetPlace], inZone zoneID: ZoneID, of database: DatabaseID, for user: String,
    timestamp: Timestamp, makeReceipt: @escaping @Sendable () -> String
  ) async throws -> [Asset]
  /// The name of the file with this checksum that a record holds; nil when there is none.
  func assetName(forChecksum checksum: String, in database: DatabaseID) async throws -> AssetName?
}
