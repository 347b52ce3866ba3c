extension SortedSearch {
  /// A candidate with its rank by cached columns (``CandidateRanking``).
  private struct RankedNumber: Comparable {
    var rank: CandidateRanking.Rank
    var number: Int64

    static func < (left: RankedNumber, right: RankedNumber) -> Bool {
      left.rank == right.rank ? left.number < right.number : left.rank < right.rank
    }
  }

  /// Collects candidates by their ranks until the page is full, and returns whether it is.
  ///
  /// The method selects about twice as many as are missing on the page, and reads them. If the
  /// page is not full then, it selects four times as many next. `candidates` is a set with all
  /// matches.
  mutating func collectRanked(
    _ candidates: RecordNumberSet, by ranking: CandidateRanking
  ) throws -> Bool {
    search.effort.observeRanking?()
    var unranked: [Int64] = []
    var last: RankedNumber?
    var capacity = 2 * (collector.missing + 1)
    while true {
      let first = firstRanked(capacity, of: candidates, by: ranking, after: last) {
        // Each selection visits all candidates without a rank again, so only the first selection
        // stores them.
        if last == nil { unranked.append($0) }
      }
      for (index, next) in first.sorted.enumerated() {
        // Records with one rank may come in any order. So a full page is final only when the ranks
        // are above that of the first record after the page. The check runs for one candidate in
        // 16.
        if index % 16 == 0, let end = collector.bound(), let bound = ranking.rank(of: end),
          ranking.isSurelyBefore(bound, next.rank)
        {
          return true
        }
        try consider(next.number)
        last = next
      }
      guard first.hasDropped else { break }
      capacity *= 4
    }
    if collector.isFull { return true }
    return try collectUnranked(unranked)
  }

  /// For records without a value for the first sort key, in ascending order. With a single sort
  /// key, they are in the order of their numbers, so the method ends when the page is full.
  /// Returns whether it is.
  private mutating func collectUnranked(_ numbers: [Int64]) throws -> Bool {
    guard keys.count == 1 else {
      for number in numbers { try consider(number) }
      return collector.isFull
    }
    let ascending = keys[0].ascending
    // The number of the last record of the previous page, if it has no value.
    let start = collector.start.flatMap { $0.values[0] == nil ? $0.number : nil }
    for number in ascending ? numbers : numbers.reversed() {
      if collector.isFull { return true }
      if let start, ascending ? number <= start : number >= start { continue }
      try consider(number)
    }
    return collector.isFull
  }

  /// The candidates with the lowest ranks after `last` that may be on the page: `capacity` to
  /// twice as many, or fewer at the end. Candidates without a value for the first sort key are
  /// visited.
  private func firstRanked(
    _ capacity: Int, of candidates: RecordNumberSet, by ranking: CandidateRanking,
    after last: RankedNumber?, visitUnranked: (Int64) -> Void
  ) -> LeastElements<RankedNumber> {
    let filter = candidateFilter
    // The rank of the last record of the previous page; the inner nil means that this record has no
    // rank. All records with a rank were then on earlier pages.
    let start = collector.start.map { ranking.rank(of: $0) }
    let shared = shared.first
    var first = LeastElements<RankedNumber>(capacity: capacity)
    ranking.visitKeys(of: candidates) { number, key in
      guard filter.mayMatch(number) else { return }
      guard let key else {
        if shared.map({ ranking.may(nil, have: $0) }) ?? true { visitUnranked(number) }
        return
      }
      guard let rank = ranking.rank(of: number, key: key, upTo: first.bound?.rank) else { return }
      if let shared, !ranking.may(rank, have: shared) { return }
      if let start {
        guard let start, !ranking.isSurelyBefore(rank, start) else { return }
      }
      let element = RankedNumber(rank: rank, number: number)
      if let last, element <= last { return }
      first.add(element)
    }
    return first
  }

  /// In index entries. Of ranked candidates, only about as many are read as are missing on the
  /// page.
  func collectingCost(_ count: Int) -> Double {
    let count = Double(count)
    guard let rankCost = candidateFilter.rankCost else { return count * search.effort.recordCost }
    return count * rankCost + min(count, Double(collector.missing)) * search.effort.recordCost
  }
}

/// The least of all added elements, in memory that depends on ``capacity`` alone.
///
/// - Complexity: O(1) to add an element that is greater than ``bound``. O(log *c*) on average for
///   another element, where *c* is the capacity: 2*c* elements are sorted after each *c* additions.
struct LeastElements<Element: Comparable> {
  /// The least elements kept at any time, above 0; up to twice as many, less one, are in memory.
  let capacity: Int
  private var kept: [Element] = []
  /// The greatest element kept at the last removal. A greater one is not added.
  private(set) var bound: Element?

  init(capacity: Int) {
    self.capacity = capacity
    kept.reserveCapacity(2 * capacity)
  }

  /// Each element that was left out is at least as great as all kept ones.
  var hasDropped: Bool { bound != nil }

  mutating func add(_ element: Element) {
    if let bound, bound < element { return }
    kept.append(element)
    guard kept.count == 2 * capacity else { return }
    kept.sort()
    kept.removeLast(capacity)
    bound = kept.last
  }

  var sorted: [Element] { kept.sorted() }
}
