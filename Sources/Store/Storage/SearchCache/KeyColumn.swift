/// The keys of one field by record numbers: the value index inverted. It is for fields with
/// eight-byte keys, such as numbers, timestamps and places.
///
/// A search ranks candidates by it, or tests a condition, without reading from the store. Copies
/// share unchanged blocks of 1,024 numbers.
///
/// - Complexity: constant time to look up or set a key, except when a set copies a block that
///   another column shares. Eight bytes for each number of the blocks that hold any.
struct KeyColumn: Sendable {
  /// The keys of 1,024 neighbouring numbers, 0 for none, followed by a bit for each number whose
  /// key is 0: so most lookups read one place in memory.
  private typealias Block = [UInt64]

  /// The numbers of a block.
  static let blockSize = 1_024
  /// The words of a block: its keys, and a bit for each.
  private static let blockWords = blockSize + blockSize / 64

  /// The last number that the database had drawn at this state. Every change of a record draws one.
  var version: Int64
  /// The blocks by their numbers; an empty one has no keys.
  private var blocks: [Block] = []
  /// The approximate memory in bytes.
  private(set) var size = 0

  /// Creates a column without keys.
  init(version: Int64) {
    self.version = version
  }

  /// The key of a record as a number, in the same order as the bytes; nil if the record has none.
  subscript(number: Int64) -> UInt64? {
    get {
      let block = Int(truncatingIfNeeded: number >> 10)
      guard block < blocks.count, !blocks[block].isEmpty else { return nil }
      let place = Int(number & 1_023)
      let key = blocks[block][place]
      guard key == 0 else { return key }
      return blocks[block][Self.blockSize + place >> 6] & Self.bit(place) != 0 ? 0 : nil
    }
    set {
      let block = Int(truncatingIfNeeded: number >> 10)
      if block >= blocks.count {
        guard newValue != nil else { return }
        let missing = block + 1 - blocks.count
        blocks.append(contentsOf: repeatElement([], count: missing))
        size += missing * MemoryLayout<Block>.size
      }
      if blocks[block].isEmpty {
        guard newValue != nil else { return }
        blocks[block] = Block(repeating: 0, count: Self.blockWords)
        size += Self.blockWords * MemoryLayout<UInt64>.size
      }
      let place = Int(number & 1_023)
      blocks[block][place] = newValue ?? 0
      if newValue == 0 {
        blocks[block][Self.blockSize + place >> 6] |= Self.bit(place)
      } else if newValue == nil {
        blocks[block][Self.blockSize + place >> 6] &= ~Self.bit(place)
      }
    }
  }

  /// The number of keys that its memory can hold.
  var capacity: Int { size / MemoryLayout<UInt64>.size }

  /// Visits the existing blocks, with the keys as ``withBlock(_:_:)`` gives them.
  func visitBlocks(_ visit: (Int, UnsafeBufferPointer<UInt64>) -> Void) {
    for (number, block) in blocks.enumerated() where !block.isEmpty {
      block.withUnsafeBufferPointer { visit(number, $0) }
    }
  }

  /// Calls `body` with one block's keys followed by the bits for ``hasZero(_:at:)``; nil if there
  /// is no such block.
  func withBlock(_ number: Int, _ body: (UnsafeBufferPointer<UInt64>?) -> Void) {
    guard number < blocks.count, !blocks[number].isEmpty else { return body(nil) }
    blocks[number].withUnsafeBufferPointer { body($0) }
  }

  /// Whether a 0 at a position is a key, not a missing one.
  static func hasZero(_ block: UnsafeBufferPointer<UInt64>, at place: Int) -> Bool {
    block[blockSize + place >> 6] & bit(place) != 0
  }

  /// Returns the bit of a position in its word.
  private static func bit(_ place: Int) -> UInt64 { 1 << UInt64(place & 63) }
}
