/// The key by which ``PointTable`` finds a point: its path, its bytes and their hash.
///
/// The key holds up to sixteen bytes as a whole. Most points are therefore compared without access
/// to the memory of their bytes.
struct PointKey: BitwiseCopyable, Sendable {
  /// The number of the path, shifted left by ``PointValue/Kind/width`` bits, with the kind of the
  /// bytes in these bits.
  let path: UInt32
  /// The number of bytes.
  let count: UInt32
  /// The first eight bytes, with zeros behind them.
  let low: UInt64
  /// The next eight bytes, with zeros behind them. Of more than sixteen bytes, the last eight.
  let high: UInt64
  /// The hash of the path, the count and all bytes.
  let hash: UInt64

  /// The greatest number of bytes that a key holds as a whole.
  static let wholeCount = 16

  /// Whether the key holds all bytes.
  var isWhole: Bool { count <= Self.wholeCount }

  /// Creates the key of some bytes.
  ///
  /// - Complexity: O(1) for up to sixteen bytes; otherwise O(*n*), where *n* is their count.
  @inline(__always)
  init(_ bytes: UnsafeRawBufferPointer, path: UInt32, _ hash: ByteHash) {
    self.path = path
    count = UInt32(bytes.count)
    (low, high) = Self.words(bytes)
    let number = UInt64(path) << 32 | UInt64(bytes.count)
    self.hash =
      bytes.count <= Self.wholeCount
      ? hash.hash(low: low, high: high, number: number) : hash.hash(bytes, number: number)
  }

  /// Returns the first and the next eight bytes with zeros behind them, or the last eight of a long
  /// key.
  @inline(__always)
  private static func words(_ bytes: UnsafeRawBufferPointer) -> (low: UInt64, high: UInt64) {
    let count = bytes.count
    func load<Word: FixedWidthInteger & BitwiseCopyable>(_ place: Int, _: Word.Type) -> UInt64 {
      UInt64(truncatingIfNeeded: bytes.loadUnaligned(fromByteOffset: place, as: Word.self))
    }
    if count > Self.wholeCount { return (load(0, UInt64.self), load(count - 8, UInt64.self)) }
    // The second load ends with the bytes; the shift drops the bytes that were loaded twice.
    if count >= 8 {
      return (load(0, UInt64.self), load(count - 8, UInt64.self) >> UInt64(8 * (16 - count)))
    }
    if count >= 4 {
      let last = load(count - 4, UInt32.self) >> UInt64(8 * (8 - count))
      return (load(0, UInt32.self) | last << 32, 0)
    }
    if count == 0 { return (0, 0) }
    // The first, the middle and the last byte, which may be the same.
    let low = UInt64(bytes[0]) | UInt64(bytes[count / 2]) << UInt64(8 * (count / 2))
    return (low | UInt64(bytes[count - 1]) << UInt64(8 * (count - 1)), 0)
  }
}
