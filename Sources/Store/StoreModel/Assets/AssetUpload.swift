import CloudKitModel

/// An upload of an asset's file that a client announced.
public struct AssetUpload: Sendable, Hashable {
  /// The name of the file in the store. In a save, the receipt proves that the user uploaded the
  /// file.
  public var receipt: String
  /// SHA-256 of the secret in the upload's URL.
  public var tokenHash: [UInt8]
  /// The user who announced the upload. Only this user can save the file in a record.
  public var userRecordName: String
  /// The record that the file is for; nil if the announcement named none.
  public var recordName: String?
  /// The type of that record.
  public var recordType: String
  /// The only field in which the file can be saved.
  public var fieldName: String
  /// The latest time at which the upload may begin.
  public var expires: Timestamp
  /// The uploaded file; nil before the upload.
  public var file: AssetFile?

  /// Creates an announced upload; `file` is nil until the bytes have come.
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

/// The checksum and the size of a file's bytes. Two files with the same checksum count as equal.
public struct AssetFile: Sendable, Hashable {
  /// The SHA-256 of the bytes in hexadecimal digits.
  public var checksum: String
  /// The number of bytes.
  public var size: Int64

  /// Describes a file. The values are not compared with its bytes.
  public init(checksum: String, size: Int64) {
    self.checksum = checksum
    self.size = size
  }
}
