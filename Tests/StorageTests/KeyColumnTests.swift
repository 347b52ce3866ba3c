import PropertyTesting
import Testing

@testable import Storage

@Suite("Columns of keys")
struct KeyColumnTests {
  @Test("a column holds what was set last, and its copies what was set before", arguments: 1...12)
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
