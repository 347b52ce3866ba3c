/// The body of a request or an answer that is being sent, with the position of the next byte to
/// send.
struct OutgoingBody {
  private let bytes: [UInt8]
  private var offset = 0

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// Copies the next bytes into `buffer`. `isEnd` says whether the body ends with them.
  mutating func read(
    into buffer: UnsafeMutableBufferPointer<UInt8>
  ) -> (count: Int, isEnd: Bool) {
    let count = min(buffer.count, bytes.count - offset)
    _ = buffer.update(fromContentsOf: bytes[offset..<offset + count])
    offset += count
    return (count, offset == bytes.count)
  }
}
