/// How much a database holds.
public struct DatabaseUsage: Sendable, Hashable {
  /// Bytes of its records, as the store keeps their contents, and of the assets that they hold, each
  /// file once.
  public var bytes: Int64
  /// Bytes of files that were uploaded and that no record holds, yet or any more.
  public var unheldAssetBytes: Int64

  public init(bytes: Int64, unheldAssetBytes: Int64) {
    self.bytes = bytes
    self.unheldAssetBytes = unheldAssetBytes
  }
}
