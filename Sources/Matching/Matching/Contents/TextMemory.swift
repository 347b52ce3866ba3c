/// An append-only buffer for the bytes of many texts.
///
/// The code that uses the buffer stores the offset and the byte count of each text. When
/// ``isWorthMoving`` is true, that code moves the remaining texts into the buffer that
/// ``emptied()`` returns. Offsets have 32 bits, so a buffer holds at most 4 GiB.
struct TextMemory: Sendable {
  /// The bytes of all texts, the removed ones included.
  private var bytes: [UInt8] = []
  /// The number of bytes that belong to removed texts.
  private var unused = 0

  var size: Int { bytes.bytes }

  /// Whether more than 4,096 bytes and more than half of the bytes are unused.
  var isWorthMoving: Bool { unused > 4_096 && unused * 2 > bytes.count }

  /// Returns the offset of the first byte.
  mutating func append(_ added: UnsafeRawBufferPointer) -> UInt32 {
    let start = UInt32(bytes.count)
    bytes.append(contentsOf: added)
    return start
  }

  /// Appends `count` bytes of another buffer, from the offset `start` there.
  ///
  /// - Returns: The offset of the first byte in this buffer.
  mutating func append(_ other: TextMemory, _ start: UInt32, _ count: UInt32) -> UInt32 {
    other.withBytes(at: start, count: count) { append($0) }
  }

  /// Counts bytes as unused. They stay in the buffer until the bytes in use are moved.
  mutating func remove(count: UInt32) { unused += Int(count) }

  func emptied() -> TextMemory {
    var memory = TextMemory()
    memory.bytes.reserveCapacity(bytes.count - unused)
    return memory
  }

  /// Calls `body` with `count` bytes from the offset `start`. The pointer is valid only during the
  /// call.
  @inline(__always)
  func withBytes<Result>(
    at start: UInt32, count: UInt32, _ body: (UnsafeRawBufferPointer) throws -> Result
  ) rethrows -> Result {
    try bytes.withUnsafeBytes {
      try body(UnsafeRawBufferPointer(rebasing: $0[Int(start)..<Int(start) + Int(count)]))
    }
  }
}
