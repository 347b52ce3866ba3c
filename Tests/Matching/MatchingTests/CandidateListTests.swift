import PropertyTesting
import Testing

@testable import Matching

struct RunListTests {
  private func candidate(_ entry: UInt32) -> Candidate {
    Candidate(entry: entry, events: 7, check: .nothing, isMetAgain: false)
  }

  @Test("what was put into a candidate comes out of it")
  func fields() {
    for check in [Candidate.Check.nothing, .range, .cap, .point, .program] {
      for isMetAgain in [false, true] {
        let candidate = Candidate(
          entry: 9, events: 5, check: check, isMetAgain: isMetAgain, path: 0xFFFF, low: 1, high: 2)
        #expect(candidate.check == check && candidate.isMetAgain == isMetAgain)
        #expect(candidate.path == 0xFFFF && candidate.entry == 9)
        #expect([1, 2, 4].map { candidate.fires(on: $0) } == [true, false, true])
      }
    }
  }

  @Test("lists that share memory keep what is theirs, and give it back", arguments: Seeds.some(20))
  func model(seed: Int) {
    var generator = SeededGenerator(seed: seed)
    var runs = Runs<Candidate>(filler: .none)
    var lists = [RunList](repeating: RunList(), count: 12)
    var model = [[UInt32]](repeating: [], count: 12)
    for step in 0..<4_000 {
      let number = Int.random(in: 0..<lists.count, using: &generator)
      if model[number].isEmpty || generator.chance(step < 2_000 ? 3 : 1, in: 4) {
        let place = lists[number].append(candidate(UInt32(step)), in: &runs)
        #expect(Int(place) == model[number].count)
        model[number].append(UInt32(step))
      } else {
        let place = Int.random(in: 0..<model[number].count, using: &generator)
        let moved = lists[number].remove(at: UInt32(place), in: &runs)
        let last = model[number].removeLast()
        if place < model[number].count { model[number][place] = last }
        #expect(moved?.entry == (place < model[number].count ? last : nil))
      }
      #expect(runs.elements[lists[number].range].map(\.entry) == model[number])
    }
    for (number, entries) in model.enumerated() {
      #expect(runs.elements[lists[number].range].map(\.entry) == entries)
      for _ in entries { _ = lists[number].remove(at: 0, in: &runs) }
    }
    #expect(runs.used == 0 && runs.elements.isEmpty)
  }

  @Test("bounds come in their order, up to the one that is reached", arguments: Seeds.some(10))
  func bounds(seed: Int) {
    var generator = SeededGenerator(seed: seed)
    var list = BoundList()
    var model: [(bound: UInt64, entry: UInt32)] = []
    for entry in 0..<3_000 as Range<UInt32> {
      if generator.chance(1, in: 4), !model.isEmpty {
        let gone = model.remove(at: Int.random(in: 0..<model.count, using: &generator))
        list.remove(entry: gone.entry, bound: gone.bound)
      } else {
        let bound = UInt64.random(in: 0..<500, using: &generator)
        list.insert(candidate(entry), bound: bound)
        model.append((bound, entry))
      }
    }
    #expect(list.count == model.count)
    for limit in [0, 1, 250, 499, 1_000] as [UInt64] {
      var found: Set<UInt32> = []
      list.visit(upTo: limit) { found.insert($0.entry) }
      #expect(found == Set(model.filter { $0.bound <= limit }.map(\.entry)), "up to \(limit)")
    }
    for (bound, entry) in model { list.remove(entry: entry, bound: bound) }
    #expect(list.count == 0)
  }
}
