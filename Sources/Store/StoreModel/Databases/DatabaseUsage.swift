/// The storage that a database uses.
public struct DatabaseUsage: Sendable, Hashable {
  /// The bytes of the database's records, as the store encodes them, and of the assets in these
  /// records. A file that several records hold counts once.
  public var bytes: Int64
  /// The bytes of uploaded files that no record holds. A record holds a file if one of its fields
  /// has the asset.
  public var unheldAssetBytes: Int64

  /// Creates a measurement from two numbers of bytes.
  public init(bytes: Int64, unheldAssetBytes: Int64) {
    self.bytes = bytes
    self.unheldAssetBytes = unheldAssetBytes
  }
}
