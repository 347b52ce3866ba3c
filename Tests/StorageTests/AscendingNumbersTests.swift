import PropertyTesting
import Testing

@testable import Storage

struct AscendingNumbersTests {
  @Test("they come as if they were sorted", arguments: 0...60)
  func model(count: Int) {
    var random = SeededGenerator(seed: count)
    let elements = (0..<count).map { number in
      AscendingNumbers.Element(
        key: Int.random(in: 0...max(1, count / 2), using: &random), number: Int64(number))
    }
    var queue = AscendingNumbers(elements.shuffled(using: &random))
    let sorted = elements.sorted { ($0.key, $0.number) < ($1.key, $1.number) }
    #expect(queue.first?.number == sorted.first?.number)
    var taken: [Int64] = []
    while let next = queue.popFirst() {
      taken.append(next.number)
      #expect(queue.first?.number == sorted.dropFirst(taken.count).first?.number)
    }
    #expect(taken == sorted.map(\.number), "seed \(count)")
  }
}
