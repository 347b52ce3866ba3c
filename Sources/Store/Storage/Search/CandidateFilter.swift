/// A filter that excludes most candidates, records that may match, without reading them.
///
/// It has the conditions of the search (``SearchCondition``), and reads a part of each to estimate
/// how many records meet it. A *walk* follows an index in order, and passes record numbers one by
/// one. At the beginning of a walk, a plan decides which conditions are gathered completely, and
/// which are asked about single records.
///
/// The candidate filter is used in this order: ``prepare(in:)``, then for each walk
/// ``beginWalk(along:overhead:)`` and ``advise(wanted:sorting:mayWalk:in:)``, then
/// ``admits(_:in:)`` for each record of the walk. A walk may be inside another one. A condition for
/// the inner walk only is added by ``push(_:in:)`` and removed by ``pop()``.
struct CandidateFilter {
  /// A walk through an index.
  private struct Walk {
    var entries = 0.0
    /// The condition whose path the walk follows, which all its records meet.
    var implied: Int?
    var overhead = 0.0
  }

  /// Every match meets all: those of the search, then those of inner walks.
  private(set) var conditions: [SearchCondition]
  /// The number of conditions that hold for all walks.
  private var lasting: Int
  private var known: [Int] = []
  private var asked: [Int] = []
  private var walk = Walk()
  private var outerWalks: [Walk] = []
  /// An upper bound (``RecordSearch/highestNumber()``); 0 before ``prepare(in:)``.
  private(set) var population = 0.0
  /// Of ranking a candidate, in index entries; nil if that is impossible.
  var rankCost: Double?
  /// Walks, questions and records read, in index entries.
  private(set) var spent = 0.0
  private let effort: SearchEffort

  init(_ conditions: [SearchCondition], effort: SearchEffort) {
    self.conditions = conditions
    lasting = conditions.count
    self.effort = effort
    for index in conditions.indices { addWhenComplete(index) }
  }

  // MARK: Exclusion

  /// Decides by the complete conditions; reads nothing from the store.
  func mayMatch(_ number: Int64) -> Bool {
    for index in known
    where conditions[index].numbers.contains(number) == conditions[index].excludes {
      return false
    }
    return true
  }

  /// Checks the complete conditions, then asks those that the plan has chosen.
  mutating func admits(_ number: Int64, in search: RecordSearch) throws -> Bool {
    guard mayMatch(number) else { return false }
    for index in asked where !conditions[index].isComplete {
      let (isMet, cost) = try conditions[index].ask(number, in: search)
      spent += Double(cost)
      guard isMet else { return false }
    }
    return true
  }

  mutating func pass(_ entries: Int) {
    walk.entries += Double(entries)
    spent += Double(entries)
  }

  mutating func seek(_ places: Int) { spent += Double(places * NumberWindow.seekCost) }

  mutating func noteRead() { spent += effort.recordCost }

  /// The smallest complete set that contains all matches.
  var candidates: RecordNumberSet? {
    known.filter { !conditions[$0].excludes }.map { conditions[$0].numbers }
      .min { $0.count < $1.count }
  }

  var candidateCount: Int? {
    known.filter { !conditions[$0].excludes }.map { conditions[$0].numbers.count }.min()
  }

  var passed: Double { walk.entries }

  // MARK: Planning

  /// Gathers a part of each condition for an estimate, until a complete set is so small that
  /// reading its records costs less than a further estimate.
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

  /// Each call needs a later ``endWalk()``.
  ///
  /// - Parameters:
  ///   - path: the condition whose path the walk follows.
  ///   - overhead: the fixed cost, in index entries.
  mutating func beginWalk(along path: Int?, overhead: Double = 0) {
    outerWalks.append(walk)
    walk = Walk(implied: path, overhead: overhead)
  }

  mutating func endWalk() {
    walk = outerWalks.removeLast()
  }

  /// Makes a plan, and gathers the conditions for which it says so.
  ///
  /// - Parameters:
  ///   - wanted: the records that are missing on the page.
  ///   - entryCost: the cost of an entry of the walk, in index entries; nil if candidates cannot
  ///     be sorted after they were read, so that a walk is the only way.
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
      // After each doubling of the gathered entries, the estimate is better, so a new plan is made.
      let index = indices[part]
      try gather(index, max(effort.peek, conditions[index].gathered), in: search)
    }
  }

  /// The cost in index entries; infinite if neither a walk nor a set of candidates is possible.
  func cost(of wanted: Int, sorting entryCost: Double?, mayWalk: Bool = true) -> Double {
    plan(wanted: wanted, sorting: entryCost, mayWalk: mayWalk).0.choice.cost
  }

  /// The estimated fraction (0–1) of the walk's records that match.
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
    // A number that a complete set excludes need not be kept.
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

  mutating func push(_ condition: SearchCondition, in search: RecordSearch) throws {
    conditions.append(condition)
    addWhenComplete(conditions.count - 1)
    try gather(conditions.count - 1, effort.peek, in: search)
  }

  mutating func completeLast(in search: RecordSearch) throws {
    while !conditions[conditions.count - 1].isComplete {
      try gather(conditions.count - 1, 1 << 16, in: search)
    }
  }

  mutating func pop() {
    conditions.removeLast()
    known.removeAll { $0 == conditions.count }
    asked.removeAll { $0 == conditions.count }
  }

  var hasConditions: Bool { !conditions.isEmpty }

  /// Whether exactly the records with the value of a range meet a condition.
  func hasCondition(of keyRange: FieldKeyRange) -> Bool {
    conditions.contains { $0.isOf(keyRange) }
  }

  /// Whether a condition excludes all records with the value of a range.
  func rulesOut(_ keyRange: FieldKeyRange) -> Bool {
    conditions.contains { $0.rulesOut(keyRange) }
  }

  /// The condition whose path has the fewest records, among the first `count`.
  func fewest(ofFirst count: Int) -> Int? {
    conditions.indices.prefix(count).min { conditions[$0].members < conditions[$1].members }
  }

  /// Runs before the first walk: all records of a scan meet the condition whose path it follows.
  mutating func remove(_ index: Int) {
    conditions.remove(at: index)
    lasting -= 1
    known = conditions.indices.filter { conditions[$0].isComplete }
  }
}
