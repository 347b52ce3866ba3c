/// A body that is being sent, and how far it is.
struct OutgoingBody {
  private let bytes: [UInt8]
  private var offset = 0

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// Copies the next bytes into `buffer`.
  mutating func read(
    into buffer: UnsafeMutableBufferPointer<UInt8>
  ) -> (count: Int, isEnd: Bool) {
    let count = min(buffer.count, bytes.count - offset)
    _ = buffer.update(fromContentsOf: bytes[offset..<offset + count])
    offset += count
    return (count, offset == bytes.count)
  }
}
