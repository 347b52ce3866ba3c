import CloudKitModel

/// Tells of most records that cannot match that they cannot, without reading them.
///
/// It has a condition for each path that leads to all matches, and for each that leads to none. As
/// little of them as tells how many there are is gathered first; what follows is the plan's choice,
/// which is looked at again and again while a walk goes on.
struct CandidateSieve {
  /// What came of the records of a walk.
  private struct Walk {
    /// Entries that it passed.
    var entries = 0.0
    /// Those since a set was completed, and those of them that passed the sets.
    var tested = 0.0
    var survivors = 0.0
    /// Records that were read: how many of them would match if conditions told all, and did.
    var expected = 0.0
    var matches = 0.0
    var misses = 0
    /// What it took, in entries, and when to look at the plan again.
    var cost = 0
    var nextLook = 0
    /// The condition that all of its records meet, as it goes along its path.
    var implied: Int?
    /// How much of its index it has before it.
    var rest = 1.0
    /// What it takes however short it is, in entries.
    var overhead = 0.0
  }

  private(set) var conditions: [SearchCondition]
  /// How many of them stay, whichever walk goes on.
  private var lasting: Int
  /// Those that are complete.
  private var known: [Int] = []
  /// Those that are asked, and how many records meet all that are neither known nor asked.
  private var asked: [Int] = []
  private var unchecked = 1.0
  private var walk = Walk()
  private var outerWalks: [Walk] = []
  /// Records that there are about.
  private(set) var population = 0.0
  /// The time of telling a candidate's place in the order, where that can be told without reading it.
  var rankCost: Double?
  /// What walks and records that were read have taken so far.
  private(set) var spent = 0.0
  private let effort: SearchEffort

  /// - Parameter conditions: a match meets each.
  init(_ conditions: [SearchCondition], effort: SearchEffort) {
    self.conditions = conditions
    lasting = conditions.count
    self.effort = effort
    for index in conditions.indices { addWhenComplete(index) }
  }

  // MARK: Telling

  /// What can be told without any effort.
  func mayMatch(_ number: Int64) -> Bool {
    for index in known
    where conditions[index].numbers.contains(number) == conditions[index].excludes {
      return false
    }
    return true
  }

  /// Whether a record that may match has to be read: asks the index where that is worth while.
  mutating func admits(_ number: Int64, in search: RecordSearch) throws -> Bool {
    guard mayMatch(number) else { return false }
    for index in asked where !conditions[index].isComplete {
      let (isMet, cost) = try conditions[index].ask(number, in: search)
      take(cost)
      guard isMet else { return false }
    }
    return true
  }

  /// Notes that a walk passed so many entries, of which some may match.
  mutating func pass(_ entries: Int, surviving survivors: Int) {
    walk.entries += Double(entries)
    walk.tested += Double(entries)
    walk.survivors += Double(survivors)
    take(entries)
  }

  /// Notes that so many places of the index were looked for.
  mutating func seek(_ places: Int) { take(places * NumberWindow.seekCost) }

  /// Notes whether a record that was read matches.
  mutating func note(isMatch: Bool) {
    walk.expected += unchecked
    if isMatch { walk.matches += 1 } else { walk.misses += 1 }
    take(Int(effort.recordCost))
  }

  private mutating func take(_ cost: Int) {
    walk.cost += cost
    spent += Double(cost)
  }

  /// All records that can match, and some more, when they are known; the smallest such set.
  var candidates: RecordNumberSet? {
    known.filter { !conditions[$0].excludes }.map { conditions[$0].numbers }
      .min { $0.count < $1.count }
  }

  var candidateCount: Int? {
    known.filter { !conditions[$0].excludes }.map { conditions[$0].numbers.count }.min()
  }

  /// Entries that the walk has passed.
  var passed: Double { walk.entries }

  // MARK: Planning

  /// Gathers as much of each condition as tells how many records meet it.
  mutating func prepare(in search: RecordSearch) throws {
    guard !conditions.isEmpty else { return }
    population = Double(try search.highestNumber())
    for index in conditions.indices
    where !conditions[index].excludes && conditions[index].gathered == 0 {
      if let candidateCount, Double(candidateCount) * effort.recordCost < Double(effort.peek) {
        break
      }
      try gather(index, effort.peek, in: search)
    }
  }

  /// Begins a walk, perhaps within another.
  ///
  /// - Parameters:
  ///   - path: The path that it goes along, when that is one of a condition.
  ///   - rest: The share of its index that it has before it.
  ///   - overhead: What it takes however short it is.
  mutating func beginWalk(along path: Int?, rest: Double, overhead: Double = 0) {
    outerWalks.append(walk)
    walk = Walk(implied: path, rest: rest, overhead: overhead)
  }

  /// Goes back to the walk before.
  mutating func endWalk() {
    walk = outerWalks.removeLast()
  }

  /// Notes that the walk has come to its end, and that what comes behind it is to be found.
  mutating func comeToEnd() {
    walk.rest = 0
    walk.nextLook = 0
  }

  /// Whether it is time to look at the plan.
  var isDue: Bool { walk.cost >= walk.nextLook }

  /// What to do for so many more records: gathers what is worth gathering, and returns whether to walk
  /// on or to collect the candidates.
  ///
  /// - Parameters:
  ///   - entryCost: that of the walk's entries; nil when there is no other way than to walk.
  ///   - mayWalk: Whether there is a walk.
  mutating func advise(
    wanted: Int, sorting entryCost: Double?, mayWalk: Bool = true, in search: RecordSearch
  ) throws -> SearchPlan.Step {
    // Those that were not worth a look may be so now.
    if walk.misses > effort.patience {
      for index in conditions.indices
      where !conditions[index].isComplete && conditions[index].gathered == 0 {
        try gather(index, effort.peek, in: search)
      }
    }
    defer { walk.nextLook = walk.cost + effort.interval }
    while true {
      let (plan, indices) = plan(wanted: wanted, sorting: entryCost, mayWalk: mayWalk)
      let choice = plan.choice
      guard case .gather(let part) = choice.step else {
        let worth = plan.questions
        asked = worth.map { indices[$0] }
        unchecked = plan.conditions.indices.reduce(1) {
          worth.contains($1) ? $0 : $0 * plan.conditions[$1].share
        }
        effort.observe?(choice.step, !asked.isEmpty)
        return choice.step
      }
      effort.observe?(choice.step, false)
      // As much again as is there: then the estimate is a better one.
      let index = indices[part]
      try gather(index, max(effort.peek, conditions[index].gathered), in: search)
    }
  }

  /// What the best way to so many more records takes, in entries.
  func cost(of wanted: Int, sorting entryCost: Double?, mayWalk: Bool = true) -> Double {
    plan(wanted: wanted, sorting: entryCost, mayWalk: mayWalk).0.choice.cost
  }

  /// How many of a walk's records match, as far as that can be told.
  func matching(sorting entryCost: Double) -> Double {
    plan(wanted: 1, sorting: entryCost).0.matches
  }

  private func plan(
    wanted: Int, sorting entryCost: Double?, mayWalk: Bool = true
  ) -> (SearchPlan, indices: [Int]) {
    let open = conditions.indices.filter {
      !conditions[$0].isComplete && conditions[$0].gathered > 0 && $0 != walk.implied
    }
    let expected = known.reduce(1) {
      $1 == walk.implied ? $0 : $0 * conditions[$1].forPlan(among: population).share
    }
    let plan = SearchPlan(
      wanted: Double(max(1, wanted)), length: max(1, population * walk.rest - walk.entries),
      behind: population,
      likelihood: walk.rest > 0 ? 0.5 : 1,
      overhead: walk.overhead,
      entryCost: entryCost ?? 1,
      recordCost: effort.recordCost,
      rankCost: rankCost,
      // What was expected counts like some records that passed: the order may begin elsewhere.
      passing: min(1, (16 + walk.survivors) / (16 / max(1e-9, expected) + walk.tested)),
      candidates: candidateCount.map { Double($0) },
      matching: min(1, (8 + walk.matches) / (8 + walk.expected)), maySort: entryCost != nil,
      mayWalk: mayWalk,
      conditions: open.map { conditions[$0].forPlan(among: population) })
    return (plan, open)
  }

  // MARK: Conditions

  private mutating func gather(_ index: Int, _ limit: Int, in search: RecordSearch) throws {
    guard !conditions[index].isComplete else { return }
    // Numbers that another set does not have need not be kept, as long as that set stays.
    let sets = known.filter { $0 < max(index, lasting) && !conditions[$0].excludes }
      .map { conditions[$0].numbers }
    try conditions[index].gather(limit, in: search) { number in
      sets.allSatisfy { $0.contains(number) }
    }
    addWhenComplete(index)
  }

  private mutating func addWhenComplete(_ index: Int) {
    guard conditions[index].isComplete, !known.contains(index) else { return }
    known.append(index)
    walk.tested = 0
    walk.survivors = 0
  }

  /// Adds a condition for the walks that begin now.
  mutating func push(_ condition: SearchCondition, in search: RecordSearch) throws {
    conditions.append(condition)
    addWhenComplete(conditions.count - 1)
    try gather(conditions.count - 1, effort.peek, in: search)
  }

  /// Gathers all of the last condition.
  mutating func completeLast(in search: RecordSearch) throws {
    while !conditions[conditions.count - 1].isComplete {
      try gather(conditions.count - 1, 1 << 16, in: search)
    }
  }

  /// Takes away the condition that was added last.
  mutating func pop() {
    conditions.removeLast()
    known.removeAll { $0 == conditions.count }
    asked.removeAll { $0 == conditions.count }
  }

  /// Whether there is anything that tells of records that they cannot match.
  var hasConditions: Bool { !conditions.isEmpty }

  /// Whether a condition is that of this value.
  func hasCondition(of stretch: IndexStretch) -> Bool {
    conditions.contains { $0.isOf(stretch) }
  }

  /// Whether a condition says that no record with this value can match.
  func rulesOut(_ stretch: IndexStretch) -> Bool {
    conditions.contains { $0.rulesOut(stretch) }
  }

  /// The condition that the fewest records meet, of the first so many.
  func fewest(ofFirst count: Int) -> Int? {
    conditions.indices.prefix(count).min { conditions[$0].members < conditions[$1].members }
  }

  /// Takes out a condition, before the first walk.
  mutating func remove(_ index: Int) {
    conditions.remove(at: index)
    lasting -= 1
    known = conditions.indices.filter { conditions[$0].isComplete }
  }
}
