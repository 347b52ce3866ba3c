/// A body during its sending, with the position of the next byte.
struct OutgoingBody {
  private let bytes: [UInt8]
  private var offset = 0

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// Copies the next bytes into `buffer`.
  ///
  /// - Returns: the number of copied bytes, and whether the body ends with them.
  mutating func read(
    into buffer: UnsafeMutableBufferPointer<UInt8>
  ) -> (count: Int, isEnd: Bool) {
    let count = min(buffer.count, bytes.count - offset)
    _ = buffer.update(fromContentsOf: bytes[offset..<offset + count])
    offset += count
    return (count, offset == bytes.count)
  }
}
