import CloudKitModel

/// An upload of an asset's file that a client announced.
public struct AssetUpload: Sendable, Hashable {
  /// The name of the upload, and of its file in the store. The client gets the receipt when the
  /// file is uploaded. In a save, the receipt proves that the user uploaded the file.
  public var receipt: String
  /// The SHA-256 of the token in the upload's URL, not of the file. The token is a secret that only
  /// the announcing client gets.
  public var tokenHash: [UInt8]
  /// The user who announced the upload. No other user can save the file with this ``receipt``.
  ///
  /// Users who may read a record that holds the file can get receipts of their own, by
  /// ``AssetRegistry/rereferenceAssets(_:inZone:of:for:timestamp:makeReceipt:)``.
  public var userRecordName: String
  /// The record that the file is for; nil if the announcement named none.
  public var recordName: String?
  /// The type of the record that will hold the file.
  public var recordType: String
  /// The only field in which this ``receipt`` permits the file.
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

/// The checksum and the size of a file's bytes. The store keeps files of a database that have the
/// same checksum once.
public struct AssetFile: Sendable, Hashable {
  /// The SHA-256 of the bytes in hexadecimal digits.
  public var checksum: String
  /// The number of bytes.
  public var size: Int64

  /// Describes a file. The caller must compute both values; the initializer does not check them.
  public init(checksum: String, size: Int64) {
    self.checksum = checksum
    self.size = size
  }
}
