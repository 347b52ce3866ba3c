import Testing

@testable import ScaleModel

struct EventQueueTests {
  @Test("gives events by time, and those of one time in the order in which they were added")
  func order() {
    var random = SeededRandom(seed: 5)
    var queue = EventQueue<Int>()
    let times = (0..<2_000).map { _ in Double(random.below(50)) }
    for (number, time) in times.enumerated() { queue.add(number, at: time) }
    var found: [Int] = []
    while let (time, number) = queue.removeFirst() {
      #expect(time == times[number])
      found.append(number)
    }
    #expect(found == times.indices.sorted { (times[$0], $0) < (times[$1], $1) })
  }
}
