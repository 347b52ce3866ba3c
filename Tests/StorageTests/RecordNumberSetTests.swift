import PropertyTesting
import Testing

@testable import Storage

@Suite("Sets of record numbers")
struct RecordNumberSetTests {
  @Test("it holds what was inserted, in order", arguments: 1...20)
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

  @Test("an empty set holds nothing", arguments: [0, 1, 1_023, 1_024, .max])
  func empty(number: Int64) {
    #expect(!RecordNumberSet().contains(number))
    #expect(RecordNumberSet().sorted.isEmpty)
  }
}
