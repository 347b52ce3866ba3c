/// The key by which ``PointTable`` finds a point (a fact that a record can have). The key has the
/// path of the point, bytes of its value, and a hash.
///
/// The key contains all bytes of a value of up to sixteen bytes. Matching therefore compares most
/// points without reading other memory.
struct PointKey: BitwiseCopyable, Sendable {
  /// The number of the path, shifted left by ``PointValue/Kind/width`` bits, with the kind of the
  /// bytes in these bits.
  let path: UInt32
  let count: UInt32
  /// The first eight bytes; zeros fill up fewer bytes.
  let low: UInt64
  /// The next eight bytes; zeros fill up fewer bytes. If there are more than sixteen bytes, the
  /// last eight.
  let high: UInt64
  /// The hash of the path, the count and all bytes.
  let hash: UInt64

  /// The greatest number of bytes of which a key contains all: 16.
  static let wholeCount = 16

  /// Whether the key contains all bytes of the value.
  var isWhole: Bool { count <= Self.wholeCount }

  /// Creates the key of some bytes.
  ///
  /// - Complexity: O(1) for up to sixteen bytes; otherwise O(*n*), where *n* is the count of the
  ///   bytes.
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

  /// Returns the values of ``low`` and ``high`` for some bytes.
  @inline(__always)
  private static func words(_ bytes: UnsafeRawBufferPointer) -> (low: UInt64, high: UInt64) {
    let count = bytes.count
    func load<Word: FixedWidthInteger & BitwiseCopyable>(_ place: Int, _: Word.Type) -> UInt64 {
      UInt64(truncatingIfNeeded: bytes.loadUnaligned(fromByteOffset: place, as: Word.self))
    }
    if count > Self.wholeCount { return (load(0, UInt64.self), load(count - 8, UInt64.self)) }
    // The second load reads the last eight bytes. The shift removes those that the first load has
    // read too.
    if count >= 8 {
      return (load(0, UInt64.self), load(count - 8, UInt64.self) >> UInt64(8 * (16 - count)))
    }
    if count >= 4 {
      let last = load(count - 4, UInt32.self) >> UInt64(8 * (8 - count))
      return (load(0, UInt32.self) | last << 32, 0)
    }
    if count == 0 { return (0, 0) }
    // One to three bytes: the first, the middle and the last one. Some of these may be the same
    // byte.
    let low = UInt64(bytes[0]) | UInt64(bytes[count / 2]) << UInt64(8 * (count / 2))
    return (low | UInt64(bytes[count - 1]) << UInt64(8 * (count - 1)), 0)
  }
}
