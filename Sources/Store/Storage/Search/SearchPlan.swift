/// The choice of the cheapest way to fill a page, from the present estimates of the conditions
/// (``SearchCondition``).
///
/// - A *walk* follows an index in order, and gets record numbers one by one. Numbers of records
///   that cannot match are excluded by the conditions. The other records are read.
/// - There are two ways to exclude numbers by a condition. To *gather* the condition, the search
///   reads the record numbers of the condition's path into a set, once. To *ask*, the search looks
///   up each record number in the index.
/// - To *collect*, the search reads and sorts the records of a set that contains all matches,
///   without a walk.
///
/// The unit of costs is an index entry: the time to read one entry in order (``SearchEffort``).
/// Shares are fractions of the walk's records (0–1). The plan assumes that the conditions are
/// independent of one another.
///
/// ``CandidateSieve`` creates a plan with its estimates, and executes ``choice``.
struct SearchPlan {
  /// The estimates of a condition that is not completely gathered.
  struct Condition {
    /// The fraction of records that meet the condition (0–1).
    var share: Double
    /// The number of entries still to be gathered.
    var remaining: Double
    /// The cost of asking about one record; nil if the condition cannot be asked.
    var question: Double?

    /// The cost of asking for each record that the answers exclude. Conditions with the lowest cost
    /// are asked first.
    var questionPerMiss: Double {
      question.map { $0 / max(1e-9, 1 - share) } ?? .infinity
    }

    /// The estimated number of records in the condition's set; nil if records in the set cannot
    /// match.
    var candidates: Double?
  }

  /// The next step of a search.
  enum Step: Equatable {
    /// The search walks until the page is full.
    case walk
    /// The search gathers more of the condition with this index in ``SearchPlan/conditions``.
    case gather(Int)
    /// The search reads and sorts the records of the smallest set that contains all matches,
    /// without a walk.
    case collect
  }

  /// A step, with the cost of the way that begins with this step.
  struct Choice {
    var step: Step
    /// The cost until the page is full, including that of gathering.
    var cost: Double
  }

  /// The number of records that are missing on the page.
  var wanted: Double
  /// The most entries that the walk can still pass.
  var length: Double
  /// The fixed cost of the walk.
  var overhead = 0.0
  /// The cost of one entry of the walk.
  var entryCost = 1.0
  /// The cost of reading a record and checking it.
  var recordCost: Double
  /// The cost of ranking a candidate without reading the record (``CandidateRanking``); nil if that
  /// is impossible.
  var rankCost: Double?
  /// The fraction of records that the complete sets do not exclude.
  var passing = 1.0
  /// The size of the smallest complete set that contains all matches; nil if there is none.
  var candidates: Double?
  /// Whether records can be sorted after they were read, so that collecting is possible.
  var maySort: Bool
  /// Whether a walk is possible.
  var mayWalk = true
  /// The conditions that are not completely gathered, numbered from 0.
  var conditions: [Condition]

  /// The most conditions of which the plan compares all combinations. If there are more, the plan
  /// compares those that cost least to gather, and does not gather the others.
  private static let combined = 5

  /// The best next step.
  ///
  /// - Complexity: O(2^*c*) combinations of *c* conditions, where *c* is at most 5.
  var choice: Choice {
    let order = conditions.indices.sorted { conditions[$0].remaining < conditions[$1].remaining }
      .prefix(Self.combined)
    var best = Choice(step: .walk, cost: .infinity)
    for combination in 0..<(1 << order.count) {
      let gathered = order.indices.filter { combination >> $0 & 1 == 1 }.map { order[$0] }
      let effort = gathered.reduce(0) { $0 + conditions[$1].remaining }
      let first = gathered.first.map { Step.gather($0) }
      let walk = mayWalk ? effort + walkCost(with: gathered) : .infinity
      if walk < best.cost { best = Choice(step: first ?? .walk, cost: walk) }
      if maySort, let collect = collectCost(with: gathered), effort + collect < best.cost {
        best = Choice(step: first ?? .collect, cost: effort + collect)
      }
    }
    return best
  }

  /// The estimated fraction of the walk's records that match: above 0, at most 1.
  var matches: Double {
    max(1e-12, conditions.reduce(passing) { $0 * $1.share })
  }

  /// The indexes of the conditions to ask, in the cheapest order.
  var questions: [Int] {
    conditions.indices.filter { isWorthAsking(conditions[$0]) }
      .sorted { conditions[$0].questionPerMiss < conditions[$1].questionPerMiss }
  }

  /// Returns whether asking is cheaper than reading: one question must cost less than it saves on
  /// average by excluding records.
  func isWorthAsking(_ condition: Condition) -> Bool {
    condition.question.map { $0 < (1 - condition.share) * recordCost } ?? false
  }

  /// Returns the cost of a walk until the page is full, if these conditions are gathered.
  private func walkCost(with gathered: [Int]) -> Double {
    let passing = gathered.reduce(passing) { $0 * conditions[$1].share }
    let entries = wanted / matches
    let entry = entryCost + passing * readingCost(without: gathered)
    return overhead + min(entries, length) * entry
  }

  /// Returns the cost of collecting the smallest set, if these conditions are gathered; nil if no
  /// set contains all matches.
  private func collectCost(with gathered: [Int]) -> Double? {
    var count = candidates
    for index in gathered {
      guard let candidates = conditions[index].candidates else { continue }
      count = count.map { $0 * conditions[index].share } ?? candidates
    }
    guard let count else { return nil }
    let cost = readingCost(without: gathered)
    guard let rankCost else { return count * cost }
    let matches = conditions.indices.filter { !gathered.contains($0) }
      .reduce(1) { $0 * conditions[$1].share }
    return count * rankCost + min(count, wanted / max(1e-12, matches)) * cost
  }

  /// Returns the cost of a record that the sets do not exclude: that of the questions, and that of
  /// reading the record if no answer excludes it.
  private func readingCost(without gathered: [Int]) -> Double {
    var cost = 0.0
    var passing = 1.0
    for index in questions where !gathered.contains(index) {
      cost += passing * (conditions[index].question ?? 0)
      passing *= conditions[index].share
    }
    return cost + passing * recordCost
  }
}
