import PropertyTesting
import Testing

@testable import Storage

struct KeyRangeDirectoryTests {
  @Test("a key is in it when it is in one of its ranges", arguments: Seeds.some(20))
  func model(seed: Int) {
    var random = SeededGenerator(seed: seed)
    for round in 0..<30 {
      let span: UInt64 = random.pick([3, 300, 1 << 20, 1 << 40, .max])
      let base: UInt64 = random.pick([0, 7, .max - span])
      func key() -> UInt64 { base + UInt64.random(in: 0...span, using: &random) }
      var ranges: [ClosedRange<UInt64>] = []
      for end in Set((0..<Int.random(in: 0...40, using: &random)).map { _ in key() }).sorted() {
        // Some of one key, the others from a key behind the last range.
        let start = ranges.last.map { $0.upperBound + 1 } ?? base
        ranges.append(random.chance(1, in: 3) ? end...end : max(start, end / 2 + end % 2)...end)
      }
      let directory = KeyRangeDirectory(ranges)
      #expect(directory.envelope?.lowerBound == ranges.first?.lowerBound)
      #expect(directory.envelope?.upperBound == ranges.last?.upperBound)
      let ends = ranges.flatMap { [$0.lowerBound, $0.upperBound] }
      let asked = ends + ends.map { $0 &- 1 } + ends.map { $0 &+ 1 } + (0..<100).map { _ in key() }
      for key in asked {
        #expect(
          directory.contains(key) == ranges.contains { $0.contains(key) },
          "seed \(seed), round \(round): \(key) in \(ranges)")
      }
    }
  }
}
