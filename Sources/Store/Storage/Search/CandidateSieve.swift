import CloudKitModel

/// A filter that excludes most candidates that cannot match, without reading their records. A
/// *candidate* is a record that may match the query.
///
/// The sieve has the conditions of the search (``SearchCondition``). First it reads a part of each
/// condition, to estimate how many records meet the condition. A *walk* follows an index in order,
/// and passes its record numbers to the sieve one by one. At the beginning of each walk, a plan
/// decides which conditions are gathered completely, and which are asked about single records.
///
/// The sieve is used in this order: ``prepare(in:)``, then for each walk
/// ``beginWalk(along:overhead:)`` and ``advise(wanted:sorting:mayWalk:in:)``, then
/// ``admits(_:in:)`` for each record of the walk. A walk may be inside another one. A condition for
/// the inner walk only is added by ``push(_:in:)`` and removed by ``pop()``.
struct CandidateSieve {
  /// The state of a walk through an index.
  private struct Walk {
    /// The number of index entries that the walk has passed so far.
    var entries = 0.0
    /// The index of the condition whose path the walk follows, so that all records of the walk meet
    /// the condition; nil if there is none.
    var implied: Int?
    /// The fixed cost of the walk, in index entries.
    var overhead = 0.0
  }

  /// The conditions, all of which every match meets. The conditions of the search come first, then
  /// those of inner walks.
  private(set) var conditions: [SearchCondition]
  /// The number of conditions of the search, which hold for all walks.
  private var lasting: Int
  /// The indexes of the complete conditions.
  private var known: [Int] = []
  /// The indexes of the conditions that are asked about single records.
  private var asked: [Int] = []
  /// The present walk.
  private var walk = Walk()
  /// The walks that contain the present one, the outermost first.
  private var outerWalks: [Walk] = []
  /// An upper bound of the number of records in the database (``RecordSearch/highestNumber()``); 0
  /// before ``prepare(in:)``.
  private(set) var population = 0.0
  /// The cost of ranking a candidate without reading the record (``CandidateRanking``), in index
  /// entries; nil if that is impossible.
  var rankCost: Double?
  /// The cost so far of walks, questions and records read, in index entries.
  private(set) var spent = 0.0
  /// The costs of the steps, and the limits of the search.
  private let effort: SearchEffort

  /// Creates a sieve with the conditions of a search.
  ///
  /// - Parameter conditions: the conditions, all of which every match meets.
  init(_ conditions: [SearchCondition], effort: SearchEffort) {
    self.conditions = conditions
    lasting = conditions.count
    self.effort = effort
    for index in conditions.indices { addWhenComplete(index) }
  }

  // MARK: Exclusion

  /// Returns whether a record meets all complete conditions. The method reads nothing from the
  /// store.
  func mayMatch(_ number: Int64) -> Bool {
    for index in known
    where conditions[index].numbers.contains(number) == conditions[index].excludes {
      return false
    }
    return true
  }

  /// Returns whether a record may match, so that it must be read. The method checks the complete
  /// conditions, then asks those that the plan has chosen to ask.
  mutating func admits(_ number: Int64, in search: RecordSearch) throws -> Bool {
    guard mayMatch(number) else { return false }
    for index in asked where !conditions[index].isComplete {
      let (isMet, cost) = try conditions[index].ask(number, in: search)
      spent += Double(cost)
      guard isMet else { return false }
    }
    return true
  }

  /// Adds the cost of `entries` index entries that the walk has passed.
  mutating func pass(_ entries: Int) {
    walk.entries += Double(entries)
    spent += Double(entries)
  }

  /// Adds the cost of seeking `places` positions in the index.
  mutating func seek(_ places: Int) { spent += Double(places * NumberWindow.seekCost) }

  /// Adds the cost of reading a record.
  mutating func noteRead() { spent += effort.recordCost }

  /// The smallest complete set of record numbers that contains all matches; nil if no condition
  /// that gives such a set is complete.
  var candidates: RecordNumberSet? {
    known.filter { !conditions[$0].excludes }.map { conditions[$0].numbers }
      .min { $0.count < $1.count }
  }

  /// The size of ``candidates``; nil if that is nil.
  var candidateCount: Int? {
    known.filter { !conditions[$0].excludes }.map { conditions[$0].numbers.count }.min()
  }

  /// The number of index entries that the present walk has passed.
  var passed: Double { walk.entries }

  // MARK: Planning

  /// Gathers a part of each condition, to estimate how many records meet the condition. If a
  /// complete set is so small that reading its records costs less than a further estimate, the
  /// method stops.
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

  /// Begins a walk, possibly inside another one. Each call needs a later call of ``endWalk()``.
  ///
  /// - Parameters:
  ///   - path: the index of the condition whose path the walk follows; nil if there is none.
  ///   - overhead: the fixed cost of the walk, in index entries.
  mutating func beginWalk(along path: Int?, overhead: Double = 0) {
    outerWalks.append(walk)
    walk = Walk(implied: path, overhead: overhead)
  }

  /// Ends the present walk. The walk around it is the present one again.
  mutating func endWalk() {
    walk = outerWalks.removeLast()
  }

  /// Makes a plan for finding `wanted` more records. The method gathers the conditions for which
  /// the plan says so, and returns the next step after that.
  ///
  /// - Parameters:
  ///   - wanted: the number of records that are missing on the page.
  ///   - entryCost: the cost of an entry of the walk, in index entries; nil if the candidates
  ///     cannot be sorted after they were read, so that a walk is the only way.
  ///   - mayWalk: whether a walk is possible.
  /// - Returns: ``SearchPlan/Step/walk`` or ``SearchPlan/Step/collect``, never
  ///   ``SearchPlan/Step/gather(_:)``.
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

  /// Returns the cost, in index entries, of the cheapest plan for finding `wanted` more records;
  /// infinite if neither a walk nor a set of candidates is possible.
  func cost(of wanted: Int, sorting entryCost: Double?, mayWalk: Bool = true) -> Double {
    plan(wanted: wanted, sorting: entryCost, mayWalk: mayWalk).0.choice.cost
  }

  /// Returns the estimated fraction (0–1) of the walk's records that match.
  func matching(sorting entryCost: Double) -> Double {
    plan(wanted: 1, sorting: entryCost).0.matches
  }

  /// Returns a plan for finding `wanted` more records. The plan numbers the conditions from 0;
  /// `indices` has the index in ``conditions`` for each of these numbers.
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
    // A number that a complete set excludes need not be kept.
    let sets = known.filter { $0 < max(index, lasting) && !conditions[$0].excludes }
      .map { conditions[$0].numbers }
    try conditions[index].gather(limit, in: search) { number in
      sets.allSatisfy { $0.contains(number) }
    }
    addWhenComplete(index)
  }

  /// Notes a condition as complete, if it is.
  private mutating func addWhenComplete(_ index: Int) {
    guard conditions[index].isComplete, !known.contains(index) else { return }
    known.append(index)
  }

  /// Adds a condition for the next inner walks, and gathers a first part of it.
  mutating func push(_ condition: SearchCondition, in search: RecordSearch) throws {
    conditions.append(condition)
    addWhenComplete(conditions.count - 1)
    try gather(conditions.count - 1, effort.peek, in: search)
  }

  /// Gathers the whole of the condition that was added last.
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

  /// Whether the sieve has any condition.
  var hasConditions: Bool { !conditions.isEmpty }

  /// Returns whether a condition is met by exactly the records with one value.
  ///
  /// - Parameter stretch: the range with the key of the value.
  func hasCondition(of stretch: IndexStretch) -> Bool {
    conditions.contains { $0.isOf(stretch) }
  }

  /// Returns whether a condition excludes all records with a value.
  ///
  /// - Parameter stretch: the range with the key of the value.
  func rulesOut(_ stretch: IndexStretch) -> Bool {
    conditions.contains { $0.rulesOut(stretch) }
  }

  /// Returns the index of the condition whose path has the fewest records, among the first `count`
  /// conditions; nil if `count` is 0.
  func fewest(ofFirst count: Int) -> Int? {
    conditions.indices.prefix(count).min { conditions[$0].members < conditions[$1].members }
  }

  /// Removes a condition of the search. Call the method before the first walk, for the condition
  /// whose path a scan follows: all records of the scan meet this condition.
  mutating func remove(_ index: Int) {
    conditions.remove(at: index)
    lasting -= 1
    known = conditions.indices.filter { conditions[$0].isComplete }
  }
}
