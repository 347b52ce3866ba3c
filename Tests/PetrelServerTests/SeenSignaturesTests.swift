import CloudKitModel
import PropertyTesting
import Testing

@testable import PetrelServer

@Suite("Signatures that were seen")
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
    #expect(seen.insert(mark(1), date: time(0.2), horizon: time(-600)) == .new)
    #expect(seen.insert(mark(1), date: time(0.2), horizon: time(-300)) == .seen)
    #expect(seen.insert(mark(2), date: time(0.2), horizon: time(-300)) == .new)
    #expect(seen.count == 2)
  }

  @Test("What is beyond the window takes no room")
  func leaving() {
    var seen = SeenSignatures(capacity: 1_000_000)
    for second in 0..<5000 {
      let now = Double(second)
      #expect(seen.insert(mark(second), date: time(now), horizon: time(now - 600)) == .new)
      #expect(seen.count <= 602)
    }
  }

  @Test("At the limit the oldest dates are forgotten, and refused from then on")
  func limit() {
    var seen = SeenSignatures(capacity: 3)
    for second in [5, 4, 6] {
      #expect(seen.insert(mark(second), date: time(Double(second)), horizon: time(0)) == .new)
    }
    #expect(seen.insert(mark(7), date: time(7), horizon: time(0)) == .new)
    #expect(seen.count == 3)
    #expect(seen.insert(mark(4), date: time(4), horizon: time(0)) == .forgotten)
    #expect(seen.insert(mark(99), date: time(4.9), horizon: time(0)) == .forgotten)
    for second in 5...7 {
      #expect(seen.insert(mark(second), date: time(Double(second)), horizon: time(0)) == .seen)
    }
  }

  @Test("No signature comes through twice, and room is never exceeded, whatever the order of dates")
  func property() {
    for seed in 1...40 as ClosedRange<UInt64> {
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
        let verdict = seen.insert(mark(number), date: time(date), horizon: time(now - 20))
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
