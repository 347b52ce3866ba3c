import CloudKitModel
import PropertyTesting
import Testing

@testable import Storage

struct ColumnConditionTests {
  @Test("a range holds the same keys of eight bytes as numbers", arguments: Seeds.some(4))
  func ranges(seed: Int) {
    var random = SeededGenerator(seed: seed)
    // Keys that have much in common, shorter and longer than eight bytes.
    func end() -> [UInt8] {
      (0..<Int.random(in: 0...10, using: &random)).map { _ in random.pick([0, 1, 0xFF]) }
    }
    for _ in 0..<2_000 {
      let range = KeyRange(lower: end(), upper: end())
      let numbers = range.numbers
      for _ in 0..<20 {
        let key = (0..<8).map { _ in random.pick([UInt8(0), 1, 0xFF]) }
        #expect(
          numbers?.contains(IndexKey(key).head) ?? false == range.contains(key),
          "seed \(seed): \(key) in \(range)")
      }
    }
  }

  @Test("records meet it when they stand on the path", arguments: Seeds.some(6))
  func paths(seed: Int) {
    var random = SeededGenerator(seed: seed)
    for round in 0..<100 {
      var column = KeyColumn(version: 1)
      var keys: [Int64: [UInt8]] = [:]
      for number in Int64(1)...60 where random.chance(3, in: 4) {
        let key = ValueKey.key(of: Int64.random(in: -20...20, using: &random))
        keys[number] = key
        column[number] = IndexKey(key).head
      }
      let ranges = (0..<Int.random(in: 0...5, using: &random)).map { _ in
        let ends = (0..<2).map { _ in Int64.random(in: -20...20, using: &random) }
        return KeyRange(
          lower: random.chance(1, in: 6) ? [] : ValueKey.key(of: ends.min()!),
          upper: random.chance(1, in: 6) ? ValueKey.greatest : ValueKey.key(of: ends.max()!))
      }
      let path = AccessPath(
        source: .keyRanges(KeyRange.union(ranges).map { FieldKeyRange(field: 1, range: $0) }))
      let condition = ColumnCondition(path, column)
      for number in Int64(0)...70 {
        #expect(
          condition.isMet(by: number)
            == (keys[number].map { key in ranges.contains { $0.contains(key) } } ?? false),
          "seed \(seed), round \(round), \(number)")
      }
      var visited: [Int64] = []
      condition.visitAll { visited.append($0) }
      #expect(
        visited == (Int64(0)...70).filter { condition.isMet(by: $0) },
        "seed \(seed), round \(round)")
    }
  }

  @Test("a circle is told by the places themselves")
  func circle() {
    let center = Location(latitude: 48, longitude: 11)
    var column = KeyColumn(version: 1)
    for (number, north) in [(Int64(1), 0.0), (2, 0.5), (3, 1.5)] {
      let place = Location(latitude: center.latitude + north, longitude: center.longitude)
      column[number] = IndexKey(ValueKey.key(of: place)).head
    }
    let path = AccessPath(
      source: .keyRanges([FieldKeyRange(field: 1, range: .everything)]),
      circle: AccessPath.Circle(center: center, radius: 100_000))
    let condition = ColumnCondition(path, column)
    #expect((Int64(0)...4).filter { condition.isMet(by: $0) } == [1, 2])
  }
}
