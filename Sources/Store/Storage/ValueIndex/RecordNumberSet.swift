/// A set of record numbers, for very many insertions and lookups.
///
/// It has a bit for each number, in blocks of 1,024, which get memory when their first number is
/// inserted. The numbers of a database begin with 1 and are close together.
///
/// - Complexity: constant time for a lookup, an insertion or a removal. The memory is four bytes
///   for each 1,024 numbers up to the greatest, and 128 bytes for each block with memory. That is
///   an eighth of a byte for each number if all numbers are present, and more if few are.
struct RecordNumberSet: Sendable {
  private static let wordsInBlock = 16
  /// The first word of each block in `words`; 0 for a block without memory.
  private var blocks: [UInt32] = []
  /// The first block is always empty, so that a lookup in a block without memory needs no test.
  private var words = [UInt64](repeating: 0, count: wordsInBlock)
  private(set) var count = 0

  /// The approximate bytes.
  var size: Int {
    blocks.count * MemoryLayout<UInt32>.size + words.count * MemoryLayout<UInt64>.size
  }

  /// The number must not be negative.
  func contains(_ number: Int64) -> Bool {
    let block = Int(truncatingIfNeeded: number >> 10)
    guard block < blocks.count else { return false }
    return words[Int(blocks[block]) + Self.word(of: number)] & Self.bit(of: number) != 0
  }

  /// The number must be positive. Returns whether it is new.
  @discardableResult
  mutating func insert(_ number: Int64) -> Bool {
    let place = start(ofBlock: Int(truncatingIfNeeded: number >> 10)) + Self.word(of: number)
    let bit = Self.bit(of: number)
    guard words[place] & bit == 0 else { return false }
    words[place] |= bit
    count += 1
    return true
  }

  private mutating func start(ofBlock block: Int) -> Int {
    if block >= blocks.count {
      blocks.append(contentsOf: repeatElement(0, count: block + 1 - blocks.count))
    }
    if blocks[block] == 0 {
      blocks[block] = UInt32(words.count)
      words.append(contentsOf: repeatElement(0, count: Self.wordsInBlock))
    }
    return Int(blocks[block])
  }

  /// Keeps the memory of the block. Returns whether the number was in the set.
  @discardableResult
  mutating func remove(_ number: Int64) -> Bool {
    guard contains(number) else { return false }
    words[Int(blocks[Int(number >> 10)]) + Self.word(of: number)] &= ~Self.bit(of: number)
    count -= 1
    return true
  }

  /// - Complexity: linear in the blocks of the other set.
  mutating func formUnion(_ other: RecordNumberSet) {
    guard count > 0 else {
      self = other
      return
    }
    for (block, start) in other.blocks.enumerated() where start != 0 {
      let own = self.start(ofBlock: block)
      for offset in 0..<Self.wordsInBlock {
        let place = own + offset
        let new = other.words[Int(start) + offset] & ~words[place]
        words[place] |= new
        count += new.nonzeroBitCount
      }
    }
  }

  var sorted: [Int64] {
    var numbers: [Int64] = []
    numbers.reserveCapacity(count)
    visitAll { numbers.append($0) }
    return numbers
  }

  /// The numbers from 1,024 × ``number`` to 1,024 × ``number`` + 1,023.
  struct Block {
    let number: Int
    fileprivate let words: ArraySlice<UInt64>

    /// The last ten bits of each number, in ascending order.
    @inline(__always) func visitPlaces(_ visit: (Int) throws -> Void) rethrows {
      for (index, word) in words.enumerated() {
        var rest = word
        while rest != 0 {
          try visit(index << 6 | rest.trailingZeroBitCount)
          rest &= rest - 1
        }
      }
    }
  }

  @inline(__always) func visitBlocks(_ visit: (Block) throws -> Void) rethrows {
    for (number, start) in blocks.enumerated() where start != 0 {
      let words = words[Int(start)..<Int(start) + Self.wordsInBlock]
      try visit(Block(number: number, words: words))
    }
  }

  /// Visits numbers in ascending order.
  func visitAll(_ visit: (Int64) throws -> Void) rethrows {
    try visitBlocks { block in
      try block.visitPlaces { try visit(Int64(block.number << 10 | $0)) }
    }
  }

  private static func word(of number: Int64) -> Int { Int(number >> 6 & 15) }
  private static func bit(of number: Int64) -> UInt64 { 1 << UInt64(number & 63) }
}
