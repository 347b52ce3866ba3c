import CloudKitModel

extension SortedSearch {
  /// A candidate's rank by cached columns.
  private struct RankedNumber: Comparable {
    var rank: CandidateRanking.Rank
    var number: Int64

    static func < (left: RankedNumber, right: RankedNumber) -> Bool {
      left.rank == right.rank ? left.number < right.number : left.rank < right.rank
    }
  }

  /// Collects candidates in the order of their ranks until the page is full.
  ///
  /// The first `capacity` candidates are selected from all. If filters refuse so many that the page
  /// is not full, the next ones are selected, four times as many.
  ///
  /// - Parameters:
  ///   - candidates: a set that contains all matches.
  ///   - ranking: the order by cached columns.
  /// - Returns: whether the page is full.
  mutating func collectRanked(
    _ candidates: RecordNumberSet, by ranking: CandidateRanking
  ) throws -> Bool {
    search.effort.observeRanking?()
    var unranked: [Int64] = []
    var last: RankedNumber?
    var capacity = 2 * (collector.missing + 1)
    while true {
      let first = firstRanked(capacity, of: candidates, by: ranking, after: last) {
        // Each selection visits the same ones.
        if last == nil { unranked.append($0) }
      }
      for (index, next) in first.sorted.enumerated() {
        // Records of one rank may come in any order, so the page is checked from time to time.
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

  /// Collects records without a value for the first key. If there is no other key, the page has
  /// them in the order of their numbers, and the rest is not read.
  ///
  /// - Parameter numbers: their numbers in ascending order.
  /// - Returns: whether the page is full.
  private mutating func collectUnranked(_ numbers: [Int64]) throws -> Bool {
    guard keys.count == 1 else {
      for number in numbers { try consider(number) }
      return collector.isFull
    }
    let ascending = keys[0].ascending
    // The end of the previous page, if it was among these records.
    let start = collector.start.flatMap { $0.values[0] == nil ? $0.number : nil }
    for number in ascending ? numbers : numbers.reversed() {
      if collector.isFull { return true }
      if let start, ascending ? number <= start : number >= start { continue }
      try consider(number)
    }
    return collector.isFull
  }

  /// Returns the first `capacity` candidates after `last` that may be on the page, or up to twice
  /// as many.
  ///
  /// - Parameter visitUnranked: gets the candidates without a value for the first key.
  private func firstRanked(
    _ capacity: Int, of candidates: RecordNumberSet, by ranking: CandidateRanking,
    after last: RankedNumber?, visitUnranked: (Int64) -> Void
  ) -> LeastElements<RankedNumber> {
    let filter = sieve
    // The end of the previous page. If it was among unranked records, all ranked ones were on
    // earlier pages.
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

  /// Returns the cost of reading `count` candidates, or as many of them as fill the page, in
  /// entries.
  func collectingCost(_ count: Int) -> Double {
    let count = Double(count)
    guard let rankCost = sieve.rankCost else { return count * search.effort.recordCost }
    return count * rankCost + min(count, Double(collector.missing)) * search.effort.recordCost
  }
}
