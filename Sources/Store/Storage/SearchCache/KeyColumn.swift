/// The keys of one field by record numbers, for all records of a database. Only fields with
/// eight-byte keys, such as numbers, timestamps and places, have columns.
///
/// With it, a search sorts candidates and tests conditions without reading from the store. A
/// column is a value: copies share the blocks of 1,024 record numbers that neither has changed.
///
/// - Complexity: O(1) to look up or set a key, except that setting copies a block that another
///   column shares. The memory is about eight bytes for each record number of the blocks that have
///   a key.
struct KeyColumn: Sendable {
  /// 1,024 neighbouring keys, then a bit for each. A missing key is 0; if a stored key is 0, its
  /// bit says whether it exists. Most keys are not 0, so most lookups read one place in memory.
  private typealias Block = [UInt64]

  static let blockSize = 1_024
  private static let blockWords = blockSize + blockSize / 64

  /// The last number that the database had drawn at this state
  /// (``DatabaseTable/nextNumber(of:)``). Each change of a record draws one, so an older version
  /// shows that changes are missing.
  var version: Int64
  /// Block *n* is for the record numbers from 1,024 × *n* on. A block without keys is empty.
  private var blocks: [Block] = []
  private(set) var size = 0

  init(version: Int64) {
    self.version = version
  }

  /// The key as a number, whose order is that of the keys' bytes.
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

  var capacity: Int { size / MemoryLayout<UInt64>.size }

  /// The blocks with keys: the number, and the words with the bits for ``hasZero(_:at:)``.
  func visitBlocks(_ visit: (Int, UnsafeBufferPointer<UInt64>) -> Void) {
    for (number, block) in blocks.enumerated() where !block.isEmpty {
      block.withUnsafeBufferPointer { visit(number, $0) }
    }
  }

  /// Passes the words as ``visitBlocks(_:)`` does; nil for a block without keys.
  func withBlock(_ number: Int, _ body: (UnsafeBufferPointer<UInt64>?) -> Void) {
    guard number < blocks.count, !blocks[number].isEmpty else { return body(nil) }
    blocks[number].withUnsafeBufferPointer { body($0) }
  }

  /// Whether a 0 is a key, and not a missing key.
  static func hasZero(_ block: UnsafeBufferPointer<UInt64>, at place: Int) -> Bool {
    block[blockSize + place >> 6] & bit(place) != 0
  }

  private static func bit(_ place: Int) -> UInt64 { 1 << UInt64(place & 63) }
}

// For each block, both methods first list the positions to visit, without a branch for each key,
// then visit them. Such branches would often be predicted wrongly, which would cost more than all
// other work.
extension KeyColumn {
  func visitKeys(in range: ClosedRange<UInt64>, _ visit: (Int64, UInt64) -> Void) {
    let lowest = range.lowerBound
    let width = range.upperBound - lowest
    // The buffer has space for each position of a block.
    withUnsafeTemporaryAllocation(of: UInt16.self, capacity: Self.blockSize) { places in
      visitBlocks { index, keys in
        var count = 0
        for place in 0..<Self.blockSize {
          places[count & (Self.blockSize - 1)] = UInt16(truncatingIfNeeded: place)
          count += keys[place] &- lowest <= width ? 1 : 0
        }
        for place in places[..<count] {
          let key = keys[Int(place)]
          guard key != 0 || Self.hasZero(keys, at: Int(place)) else { continue }
          visit(Int64(index * Self.blockSize + Int(place)), key)
        }
      }
    }
  }

  /// Visits in ascending order of record numbers; nil for a record without a key.
  func visitKeys(of numbers: RecordNumberSet, _ visit: (Int64, UInt64?) -> Void) {
    withUnsafeTemporaryAllocation(of: (place: UInt16, key: UInt64).self, capacity: Self.blockSize) {
      found in
      numbers.visitBlocks { block in
        var count = 0
        block.visitPlaces { place in
          found[count].place = UInt16(truncatingIfNeeded: place)
          count += 1
        }
        let first = Int64(block.number * Self.blockSize)
        withBlock(block.number) { keys in
          guard let keys else {
            for place in found[..<count] { visit(first + Int64(place.place), nil) }
            return
          }
          for index in 0..<count { found[index].key = keys[Int(found[index].place)] }
          for (place, key) in found[..<count] {
            let hasKey = key != 0 || Self.hasZero(keys, at: Int(place))
            visit(first + Int64(place), hasKey ? key : nil)
          }
        }
      }
    }
  }
}
