/// The bytes by which a point is found, and their hash. Sixteen bytes and fewer are in it whole, so
/// that most points are told apart without a look at where their bytes lie.
struct PointKey: BitwiseCopyable, Sendable {
  let path: UInt32
  let count: UInt32
  /// All bytes with zeros behind them or, of more than sixteen, the first and the last eight.
  let low: UInt64
  let high: UInt64
  let hash: UInt64

  static let wholeCount = 16

  var isWhole: Bool { count <= Self.wholeCount }

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

  @inline(__always)
  private static func words(_ bytes: UnsafeRawBufferPointer) -> (low: UInt64, high: UInt64) {
    let count = bytes.count
    func load<Word: FixedWidthInteger & BitwiseCopyable>(_ place: Int, _: Word.Type) -> UInt64 {
      UInt64(truncatingIfNeeded: bytes.loadUnaligned(fromByteOffset: place, as: Word.self))
    }
    if count > Self.wholeCount { return (load(0, UInt64.self), load(count - 8, UInt64.self)) }
    // The last words are read so that they end with the bytes, and what was read twice shifted out.
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
