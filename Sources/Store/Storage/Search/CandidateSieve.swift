import CloudKitModel

/// A filter that excludes most records that cannot match, without reading them.
///
/// It has a condition for each path that leads to all matches, and for each that leads to none.
/// First it gathers a part of each condition, enough to estimate the number of records that meet
/// it. At the beginning of each walk, the plan decides what else to gather.
///
/// The sieve is used in this order: ``prepare(in:)``, then for each walk
/// ``beginWalk(along:overhead:)`` and ``advise(wanted:sorting:mayWalk:in:)``, then
/// ``admits(_:in:)`` for each record of the walk. Walks may be nested. A condition that holds for
/// an inner walk alone is added by ``push(_:in:)`` and removed by ``pop()``.
struct CandidateSieve {
  /// A walk through an index.
  private struct Walk {
    /// The entries passed so far.
    var entries = 0.0
    /// The condition of the path that the walk follows, which all of its records meet.
    var implied: Int?
    /// The fixed cost of the walk, in entries.
    var overhead = 0.0
  }

  /// The conditions that every match meets; first the lasting ones, then those of nested walks.
  private(set) var conditions: [SearchCondition]
  /// The number of conditions that stay for all walks.
  private var lasting: Int
  /// The complete conditions.
  private var known: [Int] = []
  /// The conditions that are asked about single records.
  private var asked: [Int] = []
  /// The present walk.
  private var walk = Walk()
  /// The walks around the present one, the outermost first.
  private var outerWalks: [Walk] = []
  /// The approximate number of records.
  private(set) var population = 0.0
  /// The cost of ranking a candidate without reading it; nil if that is impossible.
  var rankCost: Double?
  /// The cost so far of walks and of records read.
  private(set) var spent = 0.0
  /// The costs of steps, and the limits.
  private let effort: SearchEffort

  /// Creates a sieve with the conditions of a search.
  ///
  /// - Parameter conditions: a match meets all of them.
  init(_ conditions: [SearchCondition], effort: SearchEffort) {
    self.conditions = conditions
    lasting = conditions.count
    self.effort = effort
    for index in conditions.indices { addWhenComplete(index) }
  }

  // MARK: Exclusion

  /// Returns whether the record may match, by the complete conditions. It reads nothing from the
  /// store.
  func mayMatch(_ number: Int64) -> Bool {
    for index in known
    where conditions[index].numbers.contains(number) == conditions[index].excludes {
      return false
    }
    return true
  }

  /// Returns whether the record must be read. It asks the index if the plan found that worth its
  /// cost.
  mutating func admits(_ number: Int64, in search: RecordSearch) throws -> Bool {
    guard mayMatch(number) else { return false }
    for index in asked where !conditions[index].isComplete {
      let (isMet, cost) = try conditions[index].ask(number, in: search)
      spent += Double(cost)
      guard isMet else { return false }
    }
    return true
  }

  /// Adds the cost of `entries` entries that a walk passed.
  mutating func pass(_ entries: Int) {
    walk.entries += Double(entries)
    spent += Double(entries)
  }

  /// Adds the cost of `places` seeks in the index.
  mutating func seek(_ places: Int) { spent += Double(places * NumberWindow.seekCost) }

  /// Adds the cost of reading a record.
  mutating func noteRead() { spent += effort.recordCost }

  /// The smallest complete set that contains all matches; nil if there is none.
  var candidates: RecordNumberSet? {
    known.filter { !conditions[$0].excludes }.map { conditions[$0].numbers }
      .min { $0.count < $1.count }
  }

  /// The size of the smallest complete set that contains all matches; nil if there is none.
  var candidateCount: Int? {
    known.filter { !conditions[$0].excludes }.map { conditions[$0].numbers.count }.min()
  }

  /// The entries that the walk has passed.
  var passed: Double { walk.entries }

  // MARK: Planning

  /// Gathers enough of each condition to estimate how many records meet it. It stops when a
  /// complete set is so small that reading its records costs less than a further look.
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

  /// Begins a walk, possibly within another. Each call needs a call of ``endWalk()``.
  ///
  /// - Parameters:
  ///   - path: the index of the condition whose path it follows, if any.
  ///   - overhead: the fixed cost of the walk, in entries.
  mutating func beginWalk(along path: Int?, overhead: Double = 0) {
    outerWalks.append(walk)
    walk = Walk(implied: path, overhead: overhead)
  }

  /// Returns to the outer walk.
  mutating func endWalk() {
    walk = outerWalks.removeLast()
  }

  /// Plans for `wanted` more records: gathers the conditions worth their cost, and returns whether
  /// to walk on or to collect the candidates.
  ///
  /// - Parameters:
  ///   - wanted: the number of records that fill the page.
  ///   - entryCost: the cost of the walk's entries; nil if walking is the only way.
  ///   - mayWalk: whether there is a walk.
  /// - Returns: ``SearchPlan/Step/walk`` or ``SearchPlan/Step/collect``.
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
      // Doubles the gathered entries: then the estimate is better.
      let index = indices[part]
      try gather(index, max(effort.peek, conditions[index].gathered), in: search)
    }
  }

  /// Returns the cost of the best way to `wanted` more records, in entries; infinite if there is no
  /// way.
  func cost(of wanted: Int, sorting entryCost: Double?, mayWalk: Bool = true) -> Double {
    plan(wanted: wanted, sorting: entryCost, mayWalk: mayWalk).0.choice.cost
  }

  /// Returns the estimated fraction of a walk's records that match (0–1).
  func matching(sorting entryCost: Double) -> Double {
    plan(wanted: 1, sorting: entryCost).0.matches
  }

  /// Returns the plan for `wanted` more records, and the indices of the conditions that it numbers
  /// from 0.
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

  /// Gathers up to `limit` more entries of a condition.
  private mutating func gather(_ index: Int, _ limit: Int, in search: RecordSearch) throws {
    guard !conditions[index].isComplete else { return }
    // Numbers outside of another lasting set need not be kept.
    let sets = known.filter { $0 < max(index, lasting) && !conditions[$0].excludes }
      .map { conditions[$0].numbers }
    try conditions[index].gather(limit, in: search) { number in
      sets.allSatisfy { $0.contains(number) }
    }
    addWhenComplete(index)
  }

  /// Adds a complete condition to those that exclude records at no cost.
  private mutating func addWhenComplete(_ index: Int) {
    guard conditions[index].isComplete, !known.contains(index) else { return }
    known.append(index)
  }

  /// Adds a condition for the following walks, and gathers its first part.
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

  /// Removes the condition that was added last.
  mutating func pop() {
    conditions.removeLast()
    known.removeAll { $0 == conditions.count }
    asked.removeAll { $0 == conditions.count }
  }

  /// Whether there are conditions that exclude records.
  var hasConditions: Bool { !conditions.isEmpty }

  /// Whether there is a condition for this value alone.
  func hasCondition(of stretch: IndexStretch) -> Bool {
    conditions.contains { $0.isOf(stretch) }
  }

  /// Whether a condition excludes all records with this value.
  func rulesOut(_ stretch: IndexStretch) -> Bool {
    conditions.contains { $0.rulesOut(stretch) }
  }

  /// Returns the index of the condition that the fewest records meet, among the first `count`; nil
  /// for none.
  func fewest(ofFirst count: Int) -> Int? {
    conditions.indices.prefix(count).min { conditions[$0].members < conditions[$1].members }
  }

  /// Removes a lasting condition, before the first walk: a scan follows its path, so all records of
  /// the scan meet it.
  mutating func remove(_ index: Int) {
    conditions.remove(at: index)
    lasting -= 1
    known = conditions.indices.filter { conditions[$0].isComplete }
  }
}
