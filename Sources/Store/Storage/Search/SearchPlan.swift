/// The plan of the fastest way to a page, from the present estimates of the conditions.
///
/// A walk through an index delivers records one by one. Records that cannot match are excluded by
/// gathered sets, or by asking the index about each; the others are read. Gathering a set costs
/// once, asking costs for each record. If a set contains all matches, its records can be read and
/// sorted without a walk.
///
/// Costs are in index entries read in order; shares are fractions of the walk's records. Conditions
/// are assumed to be independent.
///
/// A plan is a value: the sieve fills it with estimates and takes ``choice``.
struct SearchPlan {
  /// A condition that is not completely gathered.
  struct Condition {
    /// The fraction of records that meet it.
    var share: Double
    /// The number of entries still to be gathered.
    var remaining: Double
    /// The cost of asking about a record; nil if the index cannot be asked.
    var question: Double?

    /// The cost of asking for each record excluded: conditions with a low cost are asked first.
    var questionPerMiss: Double {
      question.map { $0 / max(1e-9, 1 - share) } ?? .infinity
    }

    /// The number of records in its set; nil if its records cannot match.
    var candidates: Double?
  }

  /// The next step of a search.
  enum Step: Equatable {
    /// The walk continues.
    case walk
    /// The search gathers records that meet this condition.
    case gather(Int)
    /// The search reads all records of the smallest set.
    case collect
  }

  /// A step with the cost of the way that begins with it.
  struct Choice {
    var step: Step
    /// The cost to the end, gathering included.
    var cost: Double
  }

  /// The number of records that fill the page.
  var wanted: Double
  /// The most entries of the walk.
  var length: Double
  /// The fixed cost of the walk.
  var overhead = 0.0
  /// The cost of one of its entries.
  var entryCost = 1.0
  /// The cost of reading a record and checking it.
  var recordCost: Double
  /// The cost of ranking a candidate without reading it; nil if that is impossible.
  var rankCost: Double?
  /// The fraction of records that pass the complete sets.
  var passing = 1.0
  /// The size of the smallest complete set; nil if none contains all matches.
  var candidates: Double?
  /// Whether records can be sorted after they were read.
  var maySort: Bool
  /// Whether there is a walk at all.
  var mayWalk = true
  /// The conditions that are not completely gathered, numbered from 0.
  var conditions: [Condition]

  /// The most conditions whose combinations are all compared; the others are not gathered.
  private static let combined = 5

  /// The best next step.
  ///
  /// - Complexity: 2 to the power of the number of conditions, at most 5.
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

  /// The estimated fraction of the walk's records that match (0–1), always above 0.
  var matches: Double {
    max(1e-12, conditions.reduce(passing) { $0 * $1.share })
  }

  /// The conditions worth asking about, in the cheapest order.
  var questions: [Int] {
    conditions.indices.filter { isWorthAsking(conditions[$0]) }
      .sorted { conditions[$0].questionPerMiss < conditions[$1].questionPerMiss }
  }

  /// Whether asking about a record costs less than reading the records that do not meet the
  /// condition.
  func isWorthAsking(_ condition: Condition) -> Bool {
    condition.question.map { $0 < (1 - condition.share) * recordCost } ?? false
  }

  /// Returns the cost of the walk until the page is full, if these conditions were gathered.
  private func walkCost(with gathered: [Int]) -> Double {
    let passing = gathered.reduce(passing) { $0 * conditions[$1].share }
    let entries = wanted / matches
    let entry = entryCost + passing * readingCost(without: gathered)
    return overhead + min(entries, length) * entry
  }

  /// Returns the cost of reading the smallest set, if these conditions were gathered; nil if none
  /// of the sets contains all matches.
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

  /// Returns the cost of a record that passes the sets: the questions about it, and reading it if
  /// all answers are positive.
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
