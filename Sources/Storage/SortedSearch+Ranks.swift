import CloudKitModel

extension SortedSearch {
  /// Collects candidates in the order that the columns tell, and no more of them than fill the page.
  mutating func collectRanked(
    _ candidates: RecordNumberSet, by ranking: CandidateRanking
  ) throws -> Bool {
    search.effort.observeRanking?()
    var ranked: [AscendingNumbers<CandidateRanking.Rank>.Element] = []
    var unranked: [Int64] = []
    // Where the page before ended; all that have a rank are past when it ended behind them.
    let start = collector.start.map { ranking.rank(of: $0) }
    for number in candidates.sorted where sieve.mayMatch(number) {
      let rank = ranking.rank(of: number)
      guard shared.first.map({ ranking.may(rank, have: $0) }) ?? true else { continue }
      guard let rank else {
        unranked.append(number)
        continue
      }
      if let start {
        guard let start, !ranking.isSurelyBefore(rank, start) else { continue }
      }
      ranked.append(AscendingNumbers.Element(key: rank, number: number))
    }
    var queue = AscendingNumbers(ranked)
    var count = 0
    while let next = queue.popFirst() {
      // Records of one rank may come in any order, so that the page is to be looked at now and then.
      if count % 16 == 0, let end = collector.bound(), let last = ranking.rank(of: end),
        ranking.isSurelyBefore(last, next.key)
      {
        return true
      }
      count += 1
      try consider(next.number)
    }
    if collector.isFull { return true }
    for number in unranked { try consider(number) }
    return collector.isFull
  }

  /// What it takes to read so many candidates, or as many of them as fill the page.
  func collectingCost(_ count: Int) -> Double {
    let count = Double(count)
    guard ranking != nil else { return count * search.effort.recordCost }
    return count * search.effort.rankCost
      + min(count, Double(collector.missing)) * search.effort.recordCost
  }
}
