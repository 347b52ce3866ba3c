// For each block, both methods first list the positions to visit, without a branch for each key,
// then visit them. Such branches would often be predicted wrongly, which would cost more than all
// other work.
extension KeyColumn {
  /// Visits in ascending order of record numbers.
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
