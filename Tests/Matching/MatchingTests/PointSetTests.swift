import PropertyTesting
import Testing

@testable import Matching

struct PointSetTests {
  @Test(
    "a set holds what was put there since it was emptied, however much", arguments: Seeds.some(10))
  func model(seed: Int) {
    var generator = SeededGenerator(seed: seed)
    var set = PointSet()
    for round in 0..<50 {
      set.removeAll()
      var model: Set<UInt32> = []
      // Numbers that lie beside each other, far apart, and at the end.
      let spread = generator.pick([1, 64, 1 << 20] as [UInt32])
      let most = generator.pick([0, 3, 100, 2_000])
      for _ in 0..<most {
        let number = UInt32.random(in: 0...1_000, using: &generator) &* spread
        #expect(set.insert(number) == model.insert(number).inserted, "seed \(seed), \(round)")
      }
      for number in 0...1_000 as ClosedRange<UInt32> {
        let number = number &* spread
        #expect(set.contains(number) == model.contains(number), "seed \(seed), \(round)")
      }
      #expect(!set.contains(.max) && set.insert(.max) && set.contains(.max))
    }
  }
}
