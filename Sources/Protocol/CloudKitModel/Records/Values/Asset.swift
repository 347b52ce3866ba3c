/// A field value that refers to a file, which the server stores apart from the records.
///
/// A client first gets an upload URL (`assets/upload`) and posts the file's bytes to the URL. The
/// answer to the post is an asset with a receipt. The client saves this asset as the field's value.
public struct Asset: Sendable, Hashable {
  /// The checksum of the file's content. Two assets with the same checksum are equal for filters.
  public var fileChecksum: String
  /// The size of the file in bytes.
  public var size: Int64
  /// A second checksum in Apple's protocol. The server answers with ``fileChecksum`` here, because
  /// some clients need the member.
  public var referenceChecksum: String?
  /// A key in Apple's protocol. Petrel does not use it and answers with an empty string.
  public var wrappingKey: String?
  /// The proof that the caller uploaded the file or may read it. The answers of an upload and of
  /// `assets/rereference` contain the receipt. Saving a record needs the receipt, unless the field
  /// already contains this file.
  public var receipt: String?
  /// The URL of the file's content. Only answers have it.
  public var downloadURL: String?

  /// Creates an asset.
  public init(
    fileChecksum: String, size: Int64, referenceChecksum: String? = nil,
    wrappingKey: String? = nil, receipt: String? = nil, downloadURL: String? = nil
  ) {
    self.fileChecksum = fileChecksum
    self.size = size
    self.referenceChecksum = referenceChecksum
    self.wrappingKey = wrappingKey
    self.receipt = receipt
    self.downloadURL = downloadURL
  }
}
