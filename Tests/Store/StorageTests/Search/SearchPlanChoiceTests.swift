import Testing

@testable import Storage

struct SearchPlanChoiceTests {
  private let million = 1_000_000.0

  /// A page of 200 of a million records, with conditions that so many records meet.
  private func plan(
    _ counts: [Double], asking: Bool = true, known: Double? = nil, maySort: Bool = true
  ) -> SearchPlan {
    SearchPlan(
      wanted: 201, length: million, recordCost: 36, passing: known.map { $0 / million } ?? 1,
      candidates: known, maySort: maySort,
      conditions: counts.map {
        SearchPlan.Condition(
          share: $0 / million, remaining: $0, question: asking ? 18 : nil, candidates: $0)
      })
  }

  @Test("few candidates are read and sorted", arguments: [1.0, 200, 1_000, 2_000])
  func few(count: Double) {
    #expect(plan([], known: count).choice.step == .collect)
    #expect(plan([count]).choice.step == .gather(0))
  }

  @Test("more are told from others on a walk", arguments: [5_000.0, 20_000, 300_000])
  func more(count: Double) {
    #expect(plan([], known: count).choice.step == .walk)
  }

  @Test("where places are known without reading, any number of candidates is soon in order")
  func ranking() {
    for count in [1_000.0, 10_000, 50_000] {
      var plan = plan([], known: count)
      plan.rankCost = 0.4
      #expect(plan.choice.step == (count < 30_000 ? .collect : .walk), "\(count)")
      // Whatever the order puts first.
      plan.passing /= 100
      #expect(plan.choice.step == .collect, "\(count)")
      plan = self.plan([count])
      plan.rankCost = 0.4
      plan.passing /= 100
      #expect(plan.choice.step == .gather(0), "\(count)")
    }
  }

  @Test("what a walk takes however short it is counts")
  func overhead() {
    var plan = plan([], known: 10_000)
    plan.rankCost = 0.4
    plan.length = 1_000
    #expect(plan.choice.step == .walk)
    plan.overhead = 65_000
    #expect(plan.choice.step == .collect)
  }

  @Test("where there is no walk, the shortest way to candidates is taken")
  func withoutWalk() {
    var plan = plan([300_000, 200_000])
    plan.mayWalk = false
    #expect(plan.choice.step == .gather(1))
    plan = self.plan([], known: 900_000)
    plan.mayWalk = false
    #expect(plan.choice.step == .collect)
  }

  @Test("without an order there is nothing but to walk")
  func unsorted() {
    #expect(plan([], known: 10, maySort: false).choice.step == .walk)
  }

  @Test("a set is gathered when that is sooner done than reading what it tells apart")
  func gathering() {
    #expect(plan([20_000]).choice.step == .gather(0))
    #expect(plan([20_000], asking: false).choice.step == .gather(0))
    // One record in three: 600 are read.
    #expect(plan([333_333]).choice.step == .walk)
    #expect(plan([333_333], asking: false).choice.step == .walk)
    // To ask about 2,000 records takes less time than to gather 100,000.
    #expect(plan([100_000]).choice.step == .walk)
    #expect(plan([100_000], asking: false).choice.step == .walk)
    #expect(plan([60_000], asking: false).choice.step == .gather(0))
  }

  @Test("of several conditions those with the fewest entries are gathered")
  func several() {
    #expect(plan([100_000, 14_000, 10_000]).choice.step == .gather(2))
    // What they have in common is small, and soon read.
    var plan = plan([100_000, 14_000], known: 10_000)
    #expect(plan.choice.step == .gather(1))
    plan = self.plan([100_000], known: 140)
    #expect(plan.choice.step == .collect)
  }

  @Test("no way takes longer than its cost says, and none is shorter than the choice")
  func costs() {
    for known in [nil, 100.0, 5_000, 200_000] {
      for counts in [[], [3_000.0], [3_000, 50_000], [900_000, 3_000, 50_000]] {
        let choice = plan(counts, known: known).choice
        #expect(choice.cost.isFinite && choice.cost > 0)
        // A condition more to choose from never makes the best way longer than all records.
        #expect(choice.cost <= million * (1 + 36 + 18 * Double(counts.count)))
        for index in counts.indices {
          var gathered = plan(counts, known: known)
          gathered.conditions.remove(at: index)
          gathered.passing *= counts[index] / million
          gathered.candidates =
            gathered.candidates.map { $0 * counts[index] / million }
            ?? counts[index]
          #expect(choice.cost <= gathered.choice.cost + counts[index] + 1e-6)
        }
      }
    }
  }

  @Test("the index is asked where that saves reading")
  func asking() {
    let plan = plan([100_000, 900_000])
    #expect(plan.isWorthAsking(plan.conditions[0]))
    #expect(!plan.isWorthAsking(plan.conditions[1]))
    // The plan begins with the condition that asks little and excludes much.
    var several = self.plan([250_000, 100_000])
    #expect(several.questions == [1, 0])
    several.conditions[0].question = 0.5
    #expect(several.questions == [0, 1])
    #expect(
      !self.plan([100_000], asking: false).isWorthAsking(
        self.plan([1], asking: false).conditions[0]))
  }
}

struct EntrySpanTests {
  private func entry(_ value: Int64, _ number: Int64 = 1) -> AccessPath.Position {
    AccessPath.Position(keyRange: 0, key: ValueKey.key(of: value), number: number)
  }

  @Test("numbers are spread evenly between the first and the last")
  func numbers() throws {
    let span = EntrySpan(first: entry(-500), last: entry(1_500))
    let share = try #require(span.share(before: entry(0)))
    #expect(abs(share - 0.25) < 1e-9)
    #expect(span.share(before: entry(1_500)) == 1)
    #expect(span.share(before: entry(-500)) == nil)
  }

  @Test("with one key the records' numbers tell")
  func oneKey() {
    let span = EntrySpan(first: entry(7, 100), last: entry(7, 300))
    #expect(span.share(before: entry(7, 150)) == 0.25)
    #expect(EntrySpan(first: entry(7, 5), last: entry(7, 5)).share(before: entry(7, 5)) == nil)
  }

  @Test("texts are told by where they begin to differ")
  func texts() throws {
    func entry(_ text: String) -> AccessPath.Position {
      AccessPath.Position(keyRange: 0, key: ValueKey.key(of: text), number: 1)
    }
    let span = EntrySpan(first: entry("kinda"), last: entry("kindz"))
    let share = try #require(span.share(before: entry("kindm")))
    #expect(abs(share - 12.0 / 25) < 0.01)
  }
}
