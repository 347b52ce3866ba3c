import PropertyTesting
import Testing

@testable import Storage

struct RecordNumberSetTests {
  @Test("it holds what was inserted, in order", arguments: Seeds.some(20))
  func model(seed: Int) {
    var random = SeededGenerator(seed: seed)
    var numbers = RecordNumberSet()
    var model: Set<Int64> = []
    let span = Int64(random.pick([70, 1_030, 100_000, 50_000_000]))
    for _ in 0..<500 {
      let number = Int64.random(in: 1...span, using: &random)
      #expect(numbers.insert(number) == model.insert(number).inserted, "seed \(seed)")
    }
    #expect(numbers.count == model.count, "seed \(seed)")
    #expect(numbers.sorted == model.sorted(), "seed \(seed)")
    for _ in 0..<500 {
      let number = Int64.random(in: 0...span * 2, using: &random)
      #expect(numbers.contains(number) == model.contains(number), "seed \(seed), \(number)")
    }
  }

  @Test("what was removed is not in it, and what another set holds is", arguments: Seeds.some(20))
  func changes(seed: Int) {
    var random = SeededGenerator(seed: seed)
    var sets = [RecordNumberSet(), RecordNumberSet()]
    var models: [Set<Int64>] = [[], []]
    let span = Int64(random.pick([70, 1_030, 100_000]))
    for _ in 0..<1_000 {
      let (number, one) = (Int64.random(in: 1...span, using: &random), random.pick([0, 1]))
      if random.chance(1, in: 3) {
        let wasThere = models[one].remove(number) != nil
        #expect(sets[one].remove(number) == wasThere, "seed \(seed)")
      } else {
        sets[one].insert(number)
        models[one].insert(number)
      }
    }
    for one in 0...1 {
      #expect(sets[one].sorted == models[one].sorted(), "seed \(seed)")
      #expect(sets[one].count == models[one].count, "seed \(seed)")
    }
    var union = random.chance(1, in: 5) ? RecordNumberSet() : sets[0]
    let expected = (union.count == 0 ? [] : models[0]).union(models[1])
    union.formUnion(sets[1])
    #expect(union.sorted == expected.sorted(), "seed \(seed)")
    #expect(union.count == expected.count, "seed \(seed)")
    #expect(sets[0].sorted == models[0].sorted(), "seed \(seed)")
  }

  @Test("an empty set holds nothing", arguments: [0, 1, 1_023, 1_024, .max])
  func empty(number: Int64) {
    #expect(!RecordNumberSet().contains(number))
    #expect(RecordNumberSet().sorted.isEmpty)
  }
}
