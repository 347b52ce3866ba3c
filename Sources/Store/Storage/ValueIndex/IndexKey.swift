import SQLEngine

/// A key of ``ValueKey``. One of at most eight bytes, such as that of a number or a location,
/// needs no memory of its own.
struct IndexKey: Hashable {
  /// Eight bytes in big-endian order, padded with zeros.
  let head: UInt64
  /// The length in bytes.
  let count: Int
  /// The bytes after ``head``.
  private let rest: [UInt8]

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

  init(_ bytes: [UInt8]) {
    self = bytes.withUnsafeBytes { IndexKey($0) }
  }

  var bytes: [UInt8] {
    withUnsafeBytes(of: head.bigEndian) { Array($0.prefix(count)) } + rest
  }
}

extension SQLRow {
  func key(_ column: Int32) -> IndexKey { IndexKey(buffer(column)) }
}
