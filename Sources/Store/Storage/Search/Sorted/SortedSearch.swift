import CloudKitModel

/// The search for one page of a query, in the order of its sort keys. Without sort keys, the order
/// is that of the records' numbers.
///
/// A few candidates are read and sorted. Otherwise the search *walks* the index of the first sort
/// key: it visits the records in the order of the index. The sieve excludes records before they are
/// read.
///
/// - Records with the same value come in the order of the next sort key. If they are many, the
///   search walks the index of that key, with the shared value as a further condition.
/// - Records without a value come last, also in the order of the next sort key.
/// - A sort by distance visits the places in growing rings around the center.
///
/// A *level* is the index of a sort key in ``keys``.
struct SortedSearch {
  /// The common value of a walk's records for an earlier sort key.
  enum Shared {
    /// The key of the common value.
    case key([UInt8])
    /// The records have no value.
    case absence
  }

  /// The query with its paths.
  let search: RecordSearch
  /// The order of the page.
  let order: RecordOrder
  /// The first records of the order so far.
  var collector: RecordCollector
  /// The filter that excludes records before they are read.
  var sieve: CandidateSieve
  /// The values that all records of the present walk share, one for each sort key before the walk's
  /// own.
  var shared: [Shared] = []
  /// The order of candidates without reading them, as far as it is known.
  private(set) var ranking: CandidateRanking?

  /// The sort keys; empty for the order of record numbers.
  var keys: [SortKey] { order.sortKeys }

  /// Creates a sorted search, with the conditions of the filters.
  init(_ search: RecordSearch) throws {
    self.search = search
    order = RecordOrder(sortKeys: search.query.query.sortKeys)
    collector = RecordCollector(order: order, limit: search.query.limit)
    sieve = CandidateSieve(try search.conditions(), effort: search.effort)
  }

  /// Executes the search.
  ///
  /// - Returns: the records of the page, and the place of its last record; the place is nil if no
  ///   more records follow.
  mutating func run() throws -> ([StoredRecord.Row], RecordOrder.Place?) {
    if let few = try fewCandidates() {
      for number in few {
        if keys.isEmpty {
          if let start = collector.start, number <= start.number { continue }
          if collector.isFull { break }
        }
        try consider(number)
      }
    } else if search.access.reach == .own {
      // The index of a sort key contains other users' values.
      if sieve.hasConditions { try sieve.completeLast(in: search) }
      ranking = try search.ranking()
      _ = try collectAll()
    } else {
      try sieve.prepare(in: search)
      ranking = try search.ranking()
      sieve.rankCost = ranking.map { $0.effort * search.effort.rankCost }
      _ = try walk(level: 0)
      try reportMissingEntries()
    }
    return collector.page()
  }

  /// Returns the numbers of the candidates in ascending order; nil if the search must use the sort
  /// keys' indexes. There is a result if a filter names the records, or if the query has no sort
  /// keys and searches one zone.
  private mutating func fewCandidates() throws -> [Int64]? {
    for path in search.paths {
      if case .names(let names) = path.source { return try search.numbers(ofRecordsNamed: names) }
    }
    return keys.isEmpty ? try search.recordsOfZone()?.sorted : nil
  }

  /// Reads a record unless the sieve excludes it. Collects the record if it matches and has the
  /// shared values.
  mutating func consider(_ number: Int64) throws {
    guard try sieve.admits(number, in: search) else { return }
    sieve.noteRead()
    guard let candidate = try search.match(number) else { return }
    let place = order.place(of: candidate.record, number: number)
    for (value, shared) in zip(place.values, shared) where !Self.has(value, shared) { return }
    collector.add(candidate.row, at: place)
  }

  /// Returns whether a value is the shared one. Values with one truncated key count as the same.
  private static func has(_ value: RecordValue?, _ shared: Shared) -> Bool {
    switch shared {
    case .absence: value == nil
    case .key(let key): value.flatMap { ValueKey.key(of: $0) } == key
    }
  }

  /// Reports the cost beyond twice the cost of reading the page's records, because more cached
  /// index entries could save it. The method does nothing without conditions.
  private func reportMissingEntries() throws {
    guard sieve.hasConditions else { return }
    let fair = 2 * Double(search.query.limit) * search.effort.recordCost
    try search.reportMissingEntries(spending: sieve.spent - fair, conditions: sieve.conditions)
  }

  // MARK: Walking

  /// An error of a walk that costs more than reading all candidates.
  struct WalkIsLonger: Error {
    /// The level of the walk to give up.
    var level: Int
  }

  /// Walks the records with the shared values in the order of the sort keys from `level` on, until
  /// the page is full or no records are left.
  ///
  /// If it turns out that collecting all candidates costs less, the method drops the records of the
  /// walk and calls ``collectAll()``.
  ///
  /// - Parameter level: the index of the sort key whose index is walked; beyond the last key, the
  ///   records are collected.
  /// - Returns: whether the page is full.
  mutating func walk(level: Int) throws -> Bool {
    guard level < keys.count, let path = search.path(along: keys[level].key) else {
      return try collectAll()
    }
    let before = collector
    do {
      // The end of the previous page, if it was among these records.
      var start: RecordOrder.Place?
      if let place = collector.start, isShared(by: place) { start = place }
      sieve.beginWalk(
        along: search.indexOfPath(along: keys[level].key),
        overhead: overhead(level: level, from: start))
      defer { sieve.endWalk() }
      let step = try sieve.advise(
        wanted: collector.missing, sorting: entryCost(level: level), in: search)
      if step == .collect { throw WalkIsLonger(level: level) }
      if start == nil || start?.values[level] != nil {
        let isFull =
          keys[level].relativeLocation == nil
          ? try walkValues(of: path, level: level, from: start)
          : try walkRings(of: path, level: level, from: start)
        if isFull { return true }
      }
      return try walkAbsent(level: level, from: start)
    } catch let turn as WalkIsLonger where turn.level == level {
      collector = before
      return try collectAll()
    }
  }

  /// Returns the fixed cost of a walk from a place, in entries: that of seeking the first ring.
  private func overhead(level: Int, from start: RecordOrder.Place?) -> Double {
    guard keys[level].relativeLocation != nil, case .double(let distance)? = start?.values[level]
    else { return 0 }
    return Self.effort(ofRingFrom: distance)
  }

  /// Returns whether a place has the shared values of the present walk.
  private func isShared(by place: RecordOrder.Place) -> Bool {
    zip(place.values, shared).allSatisfy { Self.has($0, $1) }
  }

  /// Returns the cost of an entry of a walk: 1, or 3 for a place, whose distance must be computed.
  func entryCost(level: Int) -> Double { keys[level].relativeLocation == nil ? 1 : 3 }

  /// Collects all records with the shared values. It is used if no index has the order of the
  /// remaining sort keys, or if a walk costs more.
  ///
  /// If there is no complete set of candidates, the sieve may gather one. If there is still none,
  /// the method reads all records of the type.
  ///
  /// - Returns: whether the page is full.
  mutating func collectAll() throws -> Bool {
    if case .key? = shared.last, sieve.candidates == nil { try sieve.completeLast(in: search) }
    if sieve.candidates == nil {
      _ = try sieve.advise(
        wanted: collector.missing, sorting: 1, mayWalk: false, in: search)
    }
    if let candidates = sieve.candidates {
      if let ranking { return try collectRanked(candidates, by: ranking) }
      for number in candidates.sorted { try consider(number) }
      return collector.isFull
    }
    var reader = EntryReader(search.pathToAll)
    while !reader.isAtEnd {
      let filter = sieve
      let (entries, _) = try reader.entries(4_096, in: search) { filter.mayMatch($0) }
      for entry in entries { try consider(entry.number) }
    }
    return collector.isFull
  }
}
