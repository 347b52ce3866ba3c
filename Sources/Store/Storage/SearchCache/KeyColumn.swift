/// The keys of one field for all records of a database. The value index finds record numbers by
/// keys; a column finds the key of a record number. Only fields with eight-byte keys, such as
/// numbers, timestamps and places, have columns.
///
/// With a column, a search sorts candidates and tests conditions without reading from the store. A
/// column is a value: a copy and its original share the blocks of 1,024 record numbers that neither
/// has changed.
///
/// - Complexity: O(1) to look up or set a key, except that setting copies a block that another
///   column shares. The memory is about eight bytes for each record number of the blocks that have
///   a key.
struct KeyColumn: Sendable {
  /// The keys of 1,024 neighbouring record numbers, then a bit for each of these numbers. A missing
  /// key is stored as 0. If a stored key is 0, its bit is set if the key exists. Most keys are not
  /// 0, so most lookups read one place in memory.
  private typealias Block = [UInt64]

  /// The count of record numbers in a block.
  static let blockSize = 1_024
  /// The count of 64-bit words in a block: the keys, and the words with their bits.
  private static let blockWords = blockSize + blockSize / 64

  /// The last number that the database had drawn when the column had this state (``DatabaseTable/nextNumber(of:)``).
  /// Each change of a record draws a number, so an older version shows that changes are missing.
  var version: Int64
  /// The blocks: block *n* is for the record numbers from 1,024 × *n* on. A block without keys is
  /// empty.
  private var blocks: [Block] = []
  /// The approximate memory in bytes.
  private(set) var size = 0

  /// Creates a column without keys.
  init(version: Int64) {
    self.version = version
  }

  /// The key of a record as a number; nil if the record has none. The order of these numbers is
  /// that of the keys' bytes.
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

  /// The number of keys for which the column has memory.
  var capacity: Int { size / MemoryLayout<UInt64>.size }

  /// Visits the blocks that have keys.
  ///
  /// - Parameter visit: gets the number of a block, and its words: the keys, then the bits for
  ///   ``hasZero(_:at:)``.
  func visitBlocks(_ visit: (Int, UnsafeBufferPointer<UInt64>) -> Void) {
    for (number, block) in blocks.enumerated() where !block.isEmpty {
      block.withUnsafeBufferPointer { visit(number, $0) }
    }
  }

  /// Calls `body` with the words of one block: the keys, then the bits for ``hasZero(_:at:)``.
  /// `body` gets nil for a block without keys.
  func withBlock(_ number: Int, _ body: (UnsafeBufferPointer<UInt64>?) -> Void) {
    guard number < blocks.count, !blocks[number].isEmpty else { return body(nil) }
    blocks[number].withUnsafeBufferPointer { body($0) }
  }

  /// Returns whether a 0 at a position of a block is a key, and not a missing key.
  static func hasZero(_ block: UnsafeBufferPointer<UInt64>, at place: Int) -> Bool {
    block[blockSize + place >> 6] & bit(place) != 0
  }

  /// Returns the bit of a position, in the word of that position.
  private static func bit(_ place: Int) -> UInt64 { 1 << UInt64(place & 63) }
}
