import CloudKitModel

/// What the record store knows of assets: uploads under way, receipts, and which record holds what.
///
/// A file comes into being by an upload that was announced (``addAssetUploads(_:inZone:of:)``). Its
/// receipt lets the same user save it in the announced field. Equal files of one database are kept
/// once. A file that no record holds, and no receipt of the last day names, is dropped by
/// ``RecordStore/trim(at:)``, an hour after that was first seen, so that downloads under way end.
public protocol AssetRegistry: Sendable {
  /// Where the bytes lie.
  var assets: any AssetStore { get }

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
  /// The secret of this name, which all servers on the store share: `proposed` when there is none
  /// yet.
  func secret(named name: String, proposing proposed: [UInt8]) async throws -> [UInt8]
}

/// An upload that was announced.
public struct AssetUpload: Sendable, Hashable {
  /// Names the file in the store and shows, in a save, that the user uploaded it.
  public var receipt: String
  /// SHA-256 of the secret in the upload's URL.
  public var tokenHash: [UInt8]
  public var userRecordName: String
  /// The record that the file is for; nil when that was left open.
  public var recordName: String?
  public var recordType: String
  public var fieldName: String
  /// Until when the upload may begin.
  public var expires: Timestamp
  /// What was uploaded; nil before that.
  public var file: AssetFile?

  public init(
    receipt: String, tokenHash: [UInt8], userRecordName: String, recordName: String?,
    recordType: String, fieldName: String, expires: Timestamp, file: AssetFile? = nil
  ) {
    self.receipt = receipt
    self.tokenHash = tokenHash
    self.userRecordName = userRecordName
    self.recordName = recordName
    self.recordType = recordType
    self.fieldName = fieldName
    self.expires = expires
    self.file = file
  }
}

/// What is known of a file's bytes.
public struct AssetFile: Sendable, Hashable {
  /// SHA-256 in hexadecimal digits.
  public var checksum: String
  public var size: Int64

  public init(checksum: String, size: Int64) {
    self.checksum = checksum
    self.size = size
  }
}

/// A field that holds an asset.
public struct AssetPlace: Sendable, Hashable {
  public var recordName: String
  public var fieldName: String

  public init(recordName: String, fieldName: String) {
    self.recordName = recordName
    self.fieldName = fieldName
  }
}
