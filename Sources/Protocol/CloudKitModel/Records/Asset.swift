/// What a record's field says of a file that is stored beside the records.
public struct Asset: Sendable, Hashable {
  public var fileChecksum: String
  /// Bytes.
  public var size: Int64
  public var referenceChecksum: String?
  public var wrappingKey: String?
  /// Given by the upload, asked for by the save.
  public var receipt: String?
  /// Where to fetch the file; in answers only.
  public var downloadURL: String?

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
