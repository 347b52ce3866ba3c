/// Tells which way to a page takes the least time, from what is known of the conditions so far.
///
/// Records come one by one along a walk through an index. Those that are sure not to match are told
/// from the others by the sets of records that meet a condition, as far as those were gathered, or by
/// asking the index about each; the rest are read. To gather a set takes time once, to ask takes it
/// for each record. Where a set holds all matches, its records can be read and sorted without a walk.
///
/// Times are counted in index entries that are read in their order, shares are those of the walk's
/// records. Conditions are taken to have nothing to do with each other.
struct SearchPlan {
  /// A condition whose records are not all gathered.
  struct Condition {
    /// How many records meet it.
    var share: Double
    /// Entries that are still to be gathered.
    var remaining: Double
    /// The time of asking about a record; nil where the index cannot be asked.
    var question: Double?

    /// What it takes to tell one record apart by asking: what is asked first should be low.
    var questionPerMiss: Double {
      question.map { $0 / max(1e-9, 1 - share) } ?? .infinity
    }

    /// How many records its set would hold; nil for one whose records cannot match.
    var candidates: Double?
  }

  enum Step: Equatable {
    /// Walk on.
    case walk
    /// Gather the records that meet this condition.
    case gather(Int)
    /// Read all records of the smallest set.
    case collect
  }

  struct Choice {
    var step: Step
    /// What it takes to the end, gathering included.
    var cost: Double
  }

  /// The records that the page has room for.
  var wanted: Double
  /// Entries that the walk has at most.
  var length: Double
  /// What it takes however short it is.
  var overhead = 0.0
  /// The time of one of its entries.
  var entryCost = 1.0
  var recordCost: Double
  /// The time of telling a candidate's place in the order without reading it; nil when only the record
  /// tells it.
  var rankCost: Double?
  /// How many records pass the sets that are there.
  var passing = 1.0
  /// How many records the smallest of these holds; nil while none holds all matches.
  var candidates: Double?
  /// Whether there is an order by which records can be sorted when they were read.
  var maySort: Bool
  /// Whether there is a walk at all.
  var mayWalk = true
  var conditions: [Condition]

  /// Conditions of which all combinations are compared; gathering more is not thought of.
  private static let combined = 5

  /// The best thing to do.
  ///
  /// - Complexity: 2 to the power of the number of conditions, 5 of them at most.
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

  /// How many of the walk's records match.
  var matches: Double {
    max(1e-12, conditions.reduce(passing) { $0 * $1.share })
  }

  /// Which conditions are worth asking about, in the order in which that takes least.
  var questions: [Int] {
    conditions.indices.filter { isWorthAsking(conditions[$0]) }
      .sorted { conditions[$0].questionPerMiss < conditions[$1].questionPerMiss }
  }

  /// Whether to ask about a record takes less time than to read those that do not meet the condition.
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

  /// What a record takes that passes the sets.
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
