/// A set of record numbers, made for a great many insertions and look-ups.
///
/// A bit for each number in blocks of 1,024, which are there where a number is: the numbers of one
/// database begin with 1 and lie close together.
///
/// - Complexity: constant time for each operation. Four bytes for each 1,024 numbers up to the
///   greatest, and 128 bytes for each block: from an eighth of a byte for each number, where they are
///   dense, to 132 bytes, where they are far apart.
struct RecordNumberSet {
  private static let wordsInBlock = 16
  /// Where the block of 1,024 numbers begins among the words; 0 where there is none.
  private var blocks: [UInt32] = []
  /// The first block is of no numbers, so that a look-up needs to ask for none.
  private var words = [UInt64](repeating: 0, count: wordsInBlock)
  private(set) var count = 0

  func contains(_ number: Int64) -> Bool {
    let block = Int(truncatingIfNeeded: number >> 10)
    guard block < blocks.count else { return false }
    return words[Int(blocks[block]) + Self.word(of: number)] & Self.bit(of: number) != 0
  }

  /// Whether the number, which must be positive, was not there before.
  @discardableResult
  mutating func insert(_ number: Int64) -> Bool {
    let block = Int(truncatingIfNeeded: number >> 10)
    if block >= blocks.count {
      blocks.append(contentsOf: repeatElement(0, count: block + 1 - blocks.count))
    }
    if blocks[block] == 0 {
      blocks[block] = UInt32(words.count)
      words.append(contentsOf: repeatElement(0, count: Self.wordsInBlock))
    }
    let place = Int(blocks[block]) + Self.word(of: number)
    let bit = Self.bit(of: number)
    guard words[place] & bit == 0 else { return false }
    words[place] |= bit
    count += 1
    return true
  }

  /// All numbers in ascending order.
  var sorted: [Int64] {
    var numbers: [Int64] = []
    numbers.reserveCapacity(count)
    visitAll { numbers.append($0) }
    return numbers
  }

  /// Visits all numbers in ascending order.
  func visitAll(_ visit: (Int64) throws -> Void) rethrows {
    for (block, start) in blocks.enumerated() where start != 0 {
      for offset in 0..<Self.wordsInBlock {
        var rest = words[Int(start) + offset]
        while rest != 0 {
          try visit(Int64(block) << 10 | Int64(offset << 6 | rest.trailingZeroBitCount))
          rest &= rest - 1
        }
      }
    }
  }

  private static func word(of number: Int64) -> Int { Int(number >> 6 & 15) }
  private static func bit(of number: Int64) -> UInt64 { 1 << UInt64(number & 63) }
}
