import PropertyTesting
import Testing

@testable import Storage

struct KeyColumnTests {
  @Test(
    "a column holds what was set last, and its copies what was set before",
    arguments: Seeds.some(12))
  func model(seed: Int) {
    var random = SeededGenerator(seed: seed)
    var column = KeyColumn(version: 1)
    var model: [Int64: UInt64] = [:]
    let span = Int64(random.pick([70, 1_030, 100_000, 50_000_000]))
    var copies: [(KeyColumn, [Int64: UInt64])] = []
    for round in 0..<400 {
      let number = Int64.random(in: 1...span, using: &random)
      let key: UInt64? = random.chance(1, in: 4) ? nil : random.pick([0, .max, random.next()])
      column[number] = key
      model[number] = key
      if round % 100 == 0 { copies.append((column, model)) }
    }
    copies.append((column, model))
    for (column, model) in copies {
      for (number, key) in model { #expect(column[number] == key, "seed \(seed), \(number)") }
      for _ in 0..<200 {
        let number = Int64.random(in: 0...2 * span, using: &random)
        #expect(column[number] == model[number], "seed \(seed), \(number)")
      }
    }
  }

  @Test("keys are visited in the order of their numbers", arguments: Seeds.some(12))
  func visits(seed: Int) {
    var random = SeededGenerator(seed: seed)
    var column = KeyColumn(version: 1)
    var model: [Int64: UInt64] = [:]
    var numbers = RecordNumberSet()
    let span = Int64(random.pick([70, 1_030, 100_000]))
    for _ in 0..<600 {
      let number = Int64.random(in: 1...span, using: &random)
      let key: UInt64? =
        random.chance(1, in: 4) ? nil : random.pick([0, 1, 5, .max, random.next()])
      column[number] = key
      model[number] = key
      if random.chance(1, in: 2) { numbers.insert(number) }
      if random.chance(1, in: 4) { numbers.insert(span + number) }
    }
    var visited: [Int64] = []
    column.visitKeys(of: numbers) { number, key in
      visited.append(number)
      #expect(key == model[number], "seed \(seed), \(number)")
    }
    #expect(visited == numbers.sorted, "seed \(seed)")
    for range: ClosedRange<UInt64> in [0...0, 0...7, 1...5, 5 ... .max, 0 ... .max] {
      var visited: [Int64: UInt64] = [:]
      var last: Int64 = 0
      column.visitKeys(in: range) { number, key in
        #expect(number > last, "seed \(seed), \(range)")
        last = number
        visited[number] = key
      }
      #expect(visited == model.filter { range.contains($0.value) }, "seed \(seed), \(range)")
    }
  }

  @Test("an empty column has no keys and takes no memory", arguments: [0, 1, 1_024, .max])
  func empty(number: Int64) {
    var column = KeyColumn(version: 1)
    #expect(column[number] == nil)
    column[number] = nil
    #expect(column.size == 0)
  }

  @Test("its size is that of the blocks that hold any")
  func size() {
    var column = KeyColumn(version: 1)
    for number in Int64(0)..<10_000 { column[number] = 7 }
    let dense = column.size
    #expect((80_000...100_000).contains(dense))
    column[1_000_000] = 7
    #expect(column.size < dense + 20_000)
  }
}
