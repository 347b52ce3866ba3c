import PropertyTesting
import Testing

@testable import Storage

struct LeastElementsTests {
  @Test(
    "they are the first of all in order, and those that were dropped are greater",
    arguments: Seeds.some(40))
  func model(seed: Int) {
    var random = SeededGenerator(seed: seed)
    let capacity = Int.random(in: 1...9, using: &random)
    let count = Int.random(in: 0...60, using: &random)
    let elements = (0..<count).map { _ in Int.random(in: 0...20, using: &random) }
    var least = LeastElements<Int>(capacity: capacity)
    for element in elements { least.add(element) }
    let kept = least.sorted
    #expect(kept == Array(elements.sorted().prefix(kept.count)), "seed \(seed): \(elements)")
    #expect(least.hasDropped || kept.count == count, "seed \(seed): \(elements)")
    #expect(kept.count >= min(capacity, count), "seed \(seed): \(elements)")
    #expect(kept.count < 2 * capacity, "seed \(seed): \(elements)")
  }
}
