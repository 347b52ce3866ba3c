import CloudKitModel

/// An upload that was announced.
public struct AssetUpload: Sendable, Hashable {
  /// Names the file in the store. In a save, it proves that the user uploaded the file.
  public var receipt: String
  /// SHA-256 of the secret in the upload's URL.
  public var tokenHash: [UInt8]
  public var userRecordName: String
  /// The record that the file is for; nil if the announcement named none.
  public var recordName: String?
  public var recordType: String
  public var fieldName: String
  /// The latest time at which the upload may begin.
  public var expires: Timestamp
  /// The uploaded file; nil before the upload.
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

/// A description of a file's bytes.
public struct AssetFile: Sendable, Hashable {
  /// SHA-256 in hexadecimal digits.
  public var checksum: String
  public var size: Int64

  public init(checksum: String, size: Int64) {
    self.checksum = checksum
    self.size = size
  }
}
