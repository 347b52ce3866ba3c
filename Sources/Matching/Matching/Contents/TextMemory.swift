/// Bytes of many texts in one piece of memory. Whoever put them there knows where they are, and moves
/// what is left when most is gone.
struct TextMemory: Sendable {
  private var bytes: [UInt8] = []
  private var unused = 0

  /// How much memory there is, used or not.
  var size: Int { bytes.bytes }

  var isWorthMoving: Bool { unused > 4_096 && unused * 2 > bytes.count }

  /// - Returns: where the bytes begin.
  mutating func append(_ added: UnsafeRawBufferPointer) -> UInt32 {
    let start = UInt32(bytes.count)
    bytes.append(contentsOf: added)
    return start
  }

  /// Adds bytes of another memory.
  mutating func append(_ other: TextMemory, _ start: UInt32, _ count: UInt32) -> UInt32 {
    other.withBytes(at: start, count: count) { append($0) }
  }

  /// Counts bytes as gone; they stay until the rest is moved.
  mutating func remove(count: UInt32) { unused += Int(count) }

  /// Memory for what is left of this one.
  func emptied() -> TextMemory {
    var memory = TextMemory()
    memory.bytes.reserveCapacity(bytes.count - unused)
    return memory
  }

  @inline(__always)
  func withBytes<Result>(
    at start: UInt32, count: UInt32, _ body: (UnsafeRawBufferPointer) throws -> Result
  ) rethrows -> Result {
    try bytes.withUnsafeBytes {
      try body(UnsafeRawBufferPointer(rebasing: $0[Int(start)..<Int(start) + Int(count)]))
    }
  }
}
