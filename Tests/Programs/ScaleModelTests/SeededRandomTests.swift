import ScaleModel
import Testing

struct SeededRandomTests {
  @Test("a seed gives the same numbers again, another one others")
  func seeds() {
    func numbers(_ seed: UInt64) -> [UInt64] {
      var random = SeededRandom(seed: seed)
      return (0..<8).map { _ in random.next() }
    }
    #expect(numbers(1) == numbers(1) && numbers(1) != numbers(2))
  }
}
