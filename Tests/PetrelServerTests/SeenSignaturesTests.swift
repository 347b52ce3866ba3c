import CloudKitModel
import PropertyTesting
import Testing

@testable import PetrelServer

struct SeenSignaturesTests {
  private func mark(_ number: Int) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 32)
    for index in 0..<8 { bytes[8 + index] = UInt8(truncatingIfNeeded: number >> (8 * index)) }
    return bytes
  }

  private func time(_ seconds: Double) -> Timestamp {
    Timestamp(milliseconds: 1_700_000_000_000).advanced(bySeconds: seconds)
  }

  @Test("A signature is new once within the window")
  func once() {
    var seen = SeenSignatures(capacity: 10)
    #expect(seen.insert(mark(1), date: time(0.2), now: time(0), window: 600) == .new)
    #expect(seen.insert(mark(1), date: time(0.2), now: time(300), window: 600) == .seen)
    #expect(seen.insert(mark(2), date: time(0.2), now: time(300), window: 600) == .new)
    #expect(seen.count == 2)
  }

  @Test("What is beyond the window takes no room")
  func leaving() {
    var seen = SeenSignatures(capacity: 1_000_000)
    for second in 0..<5000 {
      let now = Double(second)
      #expect(seen.insert(mark(second), date: time(now), now: time(now), window: 600) == .new)
      #expect(seen.count <= 602)
    }
  }

  @Test("At the limit the oldest dates are forgotten, and refused from then on")
  func limit() {
    var seen = SeenSignatures(capacity: 3)
    for second in [5, 4, 6] {
      #expect(
        seen.insert(mark(second), date: time(Double(second)), now: time(0), window: 0) == .new)
    }
    #expect(seen.insert(mark(7), date: time(7), now: time(0), window: 0) == .new)
    #expect(seen.count == 3)
    #expect(seen.insert(mark(4), date: time(4), now: time(0), window: 0) == .forgotten)
    #expect(seen.insert(mark(99), date: time(4.9), now: time(0), window: 0) == .forgotten)
    for second in 5...7 {
      #expect(
        seen.insert(mark(second), date: time(Double(second)), now: time(0), window: 0) == .seen)
    }
  }

  @Test(
    "None comes through twice though the clock jumps forward and back, and new ones do",
    arguments: [2.0, 700.0, 3_600.0, 2_592_000.0])
  func jump(seconds: Double) {
    var seen = SeenSignatures(capacity: 1_000)
    for second in -600...0 {
      #expect(
        seen.insert(mark(second + 1_000), date: time(Double(second)), now: time(0), window: 600)
          == .new)
    }
    // One with the server's wrong time drops what is too old by it.
    _ = seen.insert(mark(5_000), date: time(seconds), now: time(seconds), window: 600)
    for second in -600...0 {
      #expect(
        seen.insert(mark(second + 1_000), date: time(Double(second)), now: time(0), window: 600)
          != .new)
    }
    #expect(seen.insert(mark(6_000), date: time(1), now: time(1), window: 600) == .new)
    #expect(seen.insert(mark(6_000), date: time(1), now: time(2), window: 600) == .seen)
    // What was dropped when the time was right again stays within the usual bounds.
    #expect(seen.insert(mark(7_000), date: time(605), now: time(605), window: 600) == .new)
    #expect(seen.count < 20)
  }

  @Test("No signature comes through twice, and room is never exceeded, whatever the order of dates")
  func property() {
    for seed in Seeds.some(40) {
      var random = SeededGenerator(seed: seed)
      let capacity = Int(random.next() % 60) + 1
      var seen = SeenSignatures(capacity: capacity)
      var accepted: [(number: Int, date: Double)] = []
      var now = 0.0
      for step in 0..<2000 {
        now += Double(random.next() % 100) / 100
        let number: Int
        let date: Double
        // A replay of one that came before, or a new one with a clock that is off.
        if random.next() % 3 == 0, let old = accepted.randomElement(using: &random) {
          (number, date) = old
        } else {
          (number, date) = (step, now + Double(random.next() % 40) - 20)
        }
        guard abs(date - now) <= 20 else { continue }
        let verdict = seen.insert(mark(number), date: time(date), now: time(now), window: 20)
        if accepted.contains(where: { $0.number == number }) {
          #expect(verdict != .new, "seed \(seed), step \(step): taken twice")
        } else if verdict == .new {
          accepted.append((number, date))
        }
        #expect(seen.count <= capacity, "seed \(seed), step \(step)")
      }
      #expect(accepted.count > 10, "seed \(seed)")
    }
  }
}
