import SQLEngine

/// The key of an entry of the value index, as ``ValueKey`` makes it. A key of at most eight bytes,
/// such as that of a number or a location, needs no memory of its own.
struct IndexKey: Hashable {
  /// The first eight bytes in big-endian order, padded with zeros.
  let head: UInt64
  /// The length of the key in bytes.
  let count: Int
  /// The bytes after the first eight.
  private let rest: [UInt8]

  /// Copies the bytes of a key.
  init(_ bytes: UnsafeRawBufferPointer) {
    count = bytes.count
    if bytes.count >= 8 {
      head = UInt64(bigEndian: bytes.loadUnaligned(as: UInt64.self))
      rest = bytes.count > 8 ? Array(bytes[8...]) : []
    } else {
      var head: UInt64 = 0
      for byte in bytes { head = head << 8 | UInt64(byte) }
      self.head = head << UInt64(8 * (8 - bytes.count))
      rest = []
    }
  }

  /// Creates a key from its bytes.
  init(_ bytes: [UInt8]) {
    self = bytes.withUnsafeBytes { IndexKey($0) }
  }

  /// The bytes of the key.
  var bytes: [UInt8] {
    withUnsafeBytes(of: head.bigEndian) { Array($0.prefix(count)) } + rest
  }
}

extension SQLRow {
  /// Returns the key of an entry of the value index, from a column with its bytes.
  func key(_ column: Int32) -> IndexKey { IndexKey(buffer(column)) }
}
