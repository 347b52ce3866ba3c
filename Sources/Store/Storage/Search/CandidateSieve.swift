import CloudKitModel

/// Tells of most records that cannot match that they cannot, without reading them.
///
/// It has a condition for each path that leads to all matches, and for each that leads to none. As
/// little of them as tells how many there are is gathered first; what follows is the plan's choice at
/// the beginning of each walk.
struct CandidateSieve {
  /// A walk through an index.
  private struct Walk {
    /// Entries that it passed.
    var entries = 0.0
    /// The condition that all of its records meet, as it goes along its path.
    var implied: Int?
    /// What it takes however short it is, in entries.
    var overhead = 0.0
  }

  private(set) var conditions: [SearchCondition]
  /// How many of them stay, whichever walk goes on.
  private var lasting: Int
  /// Those that are complete.
  private var known: [Int] = []
  /// Those that are asked.
  private var asked: [Int] = []
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
      spent += Double(cost)
      guard isMet else { return false }
    }
    return true
  }

  /// Notes that a walk passed so many entries.
  mutating func pass(_ entries: Int) {
    walk.entries += Double(entries)
    spent += Double(entries)
  }

  /// Notes that so many places of the index were looked for.
  mutating func seek(_ places: Int) { spent += Double(places * NumberWindow.seekCost) }

  /// Notes that a record was read.
  mutating func noteRead() { spent += effort.recordCost }

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
  ///   - overhead: What it takes however short it is.
  mutating func beginWalk(along path: Int?, overhead: Double = 0) {
    outerWalks.append(walk)
    walk = Walk(implied: path, overhead: overhead)
  }

  /// Goes back to the walk before.
  mutating func endWalk() {
    walk = outerWalks.removeLast()
  }

  /// What to do for so many more records: gathers what is worth gathering, and returns whether to walk
  /// on or to collect the candidates.
  ///
  /// - Parameters:
  ///   - entryCost: that of the walk's entries; nil when there is no other way than to walk.
  ///   - mayWalk: Whether there is a walk.
  mutating func advise(
    wanted: Int, sorting entryCost: Double?, mayWalk: Bool = true, in search: RecordSearch
  ) throws -> SearchPlan.Step {
    while true {
      let (plan, indices) = plan(wanted: wanted, sorting: entryCost, mayWalk: mayWalk)
      let choice = plan.choice
      guard case .gather(let part) = choice.step else {
        asked = plan.questions.map { indices[$0] }
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
    let passing = known.reduce(1) {
      $1 == walk.implied ? $0 : $0 * conditions[$1].forPlan(among: population).share
    }
    let plan = SearchPlan(
      wanted: Double(max(1, wanted)), length: max(1, population - walk.entries),
      overhead: walk.overhead,
      entryCost: entryCost ?? 1,
      recordCost: effort.recordCost,
      rankCost: rankCost,
      passing: passing, candidates: candidateCount.map { Double($0) }, maySort: entryCost != nil,
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
