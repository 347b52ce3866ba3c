import CloudKitModel

/// An upload of an asset's file that a client announced.
public struct AssetUpload: Sendable, Hashable {
  /// The name of the upload, and of its file in the store. The client gets the receipt when the
  /// upload is complete, and saves a record with it as the proof that the user uploaded the file.
  public var receipt: String
  /// The SHA-256 of the secret in the upload's URL, which only the announcing client gets.
  public var tokenHash: [UInt8]
  /// The user who announced the upload. No other user can save the file with this ``receipt``.
  ///
  /// A user who may read a record with the file can get a receipt of their own from
  /// `AssetService.rereferenceAssets(_:inZone:of:for:timestamp:makeReceipt:)`.
  public var userRecordName: String
  /// The name of the only record that may have the file; nil if the announcement named none.
  public var recordName: String?
  /// The only record type whose records may have the file.
  public var recordType: String
  /// The only field that may have the file.
  public var fieldName: String
  /// The latest time at which the upload may begin.
  public var expires: Timestamp
  /// The uploaded file; nil before the upload.
  public var file: AssetFile?

  /// Creates an upload. `file` is nil before the client has sent the bytes.
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

/// The checksum and the size of a file. A database has the bytes of files with the same checksum
/// once.
public struct AssetFile: Sendable, Hashable {
  /// The SHA-256 in hexadecimal digits.
  public var checksum: String
  /// The number of bytes.
  public var size: Int64

  /// Describes a file. Both values are not checked.
  public init(checksum: String, size: Int64) {
    self.checksum = checksum
    self.size = size
  }
}

/// A field of a record that holds an asset or a list of assets.
public struct AssetPlace: Sendable, Hashable {
  /// The record's name in its zone.
  public var recordName: String
  /// The name of the field.
  public var fieldName: String

  /// Names a field. Neither the record nor the field need exist.
  public init(recordName: String, fieldName: String) {
    self.recordName = recordName
    self.fieldName = fieldName
  }
}

/// How the user of a shared database sees a record that holds a file.
public enum FileSight: Sendable, Hashable {
  /// As a participant of the shares in zones of this owner.
  case zones(ofOwner: String)
  /// As the share, or its root, that a link shows before the user accepts
  /// (`TokenCipher.shareOfFile(named:)`).
  case invitation(String)
}
