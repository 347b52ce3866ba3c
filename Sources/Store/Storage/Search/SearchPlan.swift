/// The choice of the cheapest way to fill a page, from the present estimates of the conditions
/// (``SearchCondition``).
///
/// - A *walk* follows an index in order, record number by record number. The conditions exclude
///   numbers of records that cannot match; the other records are read.
/// - To *gather* a condition, the search reads all record numbers of its path into a set. To *ask*
///   it, the search looks up single numbers.
/// - To *collect*, the search reads and sorts the records of a set with all matches, without a
///   walk.
///
/// The unit of costs is an index entry (``SearchEffort``). Shares are fractions of the walk's
/// records (0–1). The conditions are assumed to be independent.
struct SearchPlan {
  /// A condition that is not completely gathered.
  struct Condition {
    /// The fraction of records that meet it (0–1).
    var share: Double
    var remaining: Double
    var question: Double?

    var questionPerMiss: Double {
      question.map { $0 / max(1e-9, 1 - share) } ?? .infinity
    }

    var candidates: Double?
  }

  /// The next step of a search.
  enum Step: Equatable {
    case walk
    case gather(Int)
    case collect
  }

  /// A step with the cost of the way that begins with it.
  struct Choice {
    var step: Step
    var cost: Double
  }

  var wanted: Double
  /// The most entries that the walk can still pass.
  var length: Double
  var overhead = 0.0
  /// The cost of one entry of the walk.
  var entryCost = 1.0
  var recordCost: Double
  /// Ranking a candidate (``CandidateRanking``); nil if that is impossible.
  var rankCost: Double?
  /// The fraction of records that complete sets do not exclude.
  var passing = 1.0
  /// The smallest complete set with all matches.
  var candidates: Double?
  var maySort: Bool
  var mayWalk = true
  var conditions: [Condition]

  /// The plan compares all combinations of so many conditions, those that cost least to gather.
  /// Others are not gathered.
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

  var matches: Double {
    max(1e-12, conditions.reduce(passing) { $0 * $1.share })
  }

  var questions: [Int] {
    conditions.indices.filter { isWorthAsking(conditions[$0]) }
      .sorted { conditions[$0].questionPerMiss < conditions[$1].questionPerMiss }
  }

  /// A question must cost less than it saves on average by excluding records.
  func isWorthAsking(_ condition: Condition) -> Bool {
    condition.question.map { $0 < (1 - condition.share) * recordCost } ?? false
  }

  private func walkCost(with gathered: [Int]) -> Double {
    let passing = gathered.reduce(passing) { $0 * conditions[$1].share }
    let entries = wanted / matches
    let entry = entryCost + passing * readingCost(without: gathered)
    return overhead + min(entries, length) * entry
  }

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

  /// The questions about a record that the sets do not exclude, and its reading if no answer
  /// excludes it.
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

/// The costs of the steps of a search, and its limits. Tests change them to force a way of
/// searching.
///
/// The unit of costs is an index entry: the time to read one entry of the value index in order,
/// about 80 nanoseconds.
///
/// A search compares its cost with that of making an entry of the search cache.
struct SearchEffort: Sendable {
  /// Reading a record by its number and checking it.
  var recordCost = 36.0
  /// Looking up a record's place in cached columns (``CandidateRanking``).
  var rankCost = 0.4
  /// The cost that searches must have spent before a column is cached, as a fraction (0–1) of the
  /// database's highest record number. For a list, an eighth of it is enough.
  var columnShare = 0.1
  /// The index entries spent on one condition before its missing cache entries count.
  var listThreshold = 4_096
  /// Whether a search makes a missing cache entry itself, instead of requesting it.
  var fillsCache = false
  /// The records saved between two uses of a cache entry at which it is removed.
  var changeLimit = 1_000
  /// The index entries read of each condition for an estimate.
  var peek = 2_048
  /// The most records with one value that are sorted in memory. With more, the search follows the
  /// index of the next sort key.
  var groupLimit = 2_000
  /// The most records of a zone that a query without sort keys reads as a whole.
  var fewRecords = 2_000
  /// The most records read to find those without a value. If that is not enough, the index
  /// excludes those with a value.
  var absenceLimit = 1_000
  /// Called for each step of a plan, in tests. `asks` says that the step looks up single records.
  var observe: (@Sendable (SearchPlan.Step, _ asks: Bool) -> Void)?
  /// Called when candidates are sorted by cached columns, in tests.
  var observeRanking: (@Sendable () -> Void)?
}
