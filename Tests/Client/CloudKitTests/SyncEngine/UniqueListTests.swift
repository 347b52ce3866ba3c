import PropertyTesting
import Testing

@testable import CloudKit

struct UniqueListTests {
  @Test(
    "Random additions and removals give the list that a plain one gives", arguments: Seeds.some(50))
  func model(seed: Int) {
    var generator = SeededGenerator(seed: seed)
    var list = UniqueList<Int>()
    var plain: [Int] = []
    let range = Int.random(in: 1...100, using: &generator)
    for step in 0..<400 {
      let element = Int.random(in: 0..<range, using: &generator)
      if Int.random(in: 0..<5, using: &generator) < 3 {
        list.append(element)
        if !plain.contains(element) { plain.append(element) }
      } else {
        let removed = Bool.random(using: &generator) ? plain.first ?? element : element
        list.remove(removed)
        plain.removeAll { $0 == removed }
      }
      #expect(Array(list) == plain, "seed \(seed), step \(step)")
      #expect(list.contains(element) == plain.contains(element))
    }
  }
}
