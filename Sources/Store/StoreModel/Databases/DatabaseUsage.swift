/// The storage that a database uses.
public struct DatabaseUsage: Sendable, Hashable {
  /// Bytes of its records, as the store encodes them, and of the assets that they hold. Each file
  /// counts once.
  public var bytes: Int64
  /// Bytes of uploaded files that no record holds.
  public var unheldAssetBytes: Int64

  /// Creates a measurement from two numbers of bytes.
  public init(bytes: Int64, unheldAssetBytes: Int64) {
    self.bytes = bytes
    self.unheldAssetBytes = unheldAssetBytes
  }
}
