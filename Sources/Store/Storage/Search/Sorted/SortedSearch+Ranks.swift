import CloudKitModel

extension SortedSearch {
  /// A candidate with its rank. The rank is the candidate's place in the order as far as cached
  /// columns show it; it needs no read of the record.
  private struct RankedNumber: Comparable {
    var rank: CandidateRanking.Rank
    var number: Int64

    static func < (left: RankedNumber, right: RankedNumber) -> Bool {
      left.rank == right.rank ? left.number < right.number : left.rank < right.rank
    }
  }

  /// Collects candidates in the order of their ranks until the page is full.
  ///
  /// The method selects the first `capacity` candidates and reads them. If filters refuse so many
  /// that the page is not full, it selects the next candidates, four times as many.
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
        // Each selection visits the same candidates without a rank, so only the first one stores
        // them.
        if last == nil { unranked.append($0) }
      }
      for (index, next) in first.sorted.enumerated() {
        // Records of one rank may come in any order, so a full page is not complete before the
        // ranks exceed that of its end. The check runs once in 16 candidates.
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
  /// them in the order of their numbers, and records after the page are not read.
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

  /// Returns the first candidates after `last` that may be on the page: at least `capacity` if
  /// there are as many, at most twice as many.
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

  /// Returns the cost of collecting `count` candidates, in index entries. If candidates can be
  /// ranked, only as many are read as fill the page.
  func collectingCost(_ count: Int) -> Double {
    let count = Double(count)
    guard let rankCost = sieve.rankCost else { return count * search.effort.recordCost }
    return count * rankCost + min(count, Double(collector.missing)) * search.effort.recordCost
  }
}
