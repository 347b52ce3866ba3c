import CloudKitModel

/// The search for one page of a query's results, in the order of the sort keys. Without sort keys,
/// the order is that of the record numbers.
///
/// A *candidate* is a record that may match. If there are few candidates, the search reads and
/// sorts them all. Otherwise it *walks* the index of the first sort key: it visits the record
/// numbers in the order of the index. The sieve (``CandidateSieve``) excludes most records that
/// cannot match before they are read.
///
/// - Records with the same value come in the order of the next sort key. If there are many of them,
///   the search walks the index of the next sort key. The *shared* value is then a further
///   condition.
/// - Records without a value come last, in the order of the next sort key.
/// - A sort by distance visits the places in growing rings around a centre.
///
/// A *level* is the index of a sort key in ``keys``. A walk has the level of the sort key whose
/// index it follows.
struct SortedSearch {
  /// The value that all records of a walk have for a sort key before the walk's own.
  enum Shared {
    /// The records have the value with this key (``ValueKey``).
    case key([UInt8])
    /// The records have no value.
    case absence
  }

  /// The search, with the query and its paths.
  let search: RecordSearch
  /// The order of the query's results.
  let order: RecordOrder
  /// The matching records found so far, as far as they can be on the page.
  var collector: RecordCollector
  /// The filter that excludes records before they are read, by the conditions of the search.
  var sieve: CandidateSieve
  /// The shared values of the present walk, one for each sort key before the walk's own.
  var shared: [Shared] = []
  /// The order of candidates by cached columns, for which no record is read; nil if there is none.
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

  /// Executes the search. The caller sets `collector.start` before, for a page after the first one.
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
      // The index of a sort key also contains other users' values, which this caller may not read.
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

  /// Returns the numbers of all candidates in ascending order, for two kinds of queries: those with
  /// a filter on record names, and those without sort keys in one zone. For another query, the
  /// result is nil.
  private mutating func fewCandidates() throws -> [Int64]? {
    for path in search.paths {
      if case .names(let names) = path.source { return try search.numbers(ofRecordsNamed: names) }
    }
    return keys.isEmpty ? try search.recordsOfZone()?.sorted : nil
  }

  /// Reads a record, unless the sieve excludes it. If the record matches and has the shared values,
  /// the method adds it to the collector.
  mutating func consider(_ number: Int64) throws {
    guard try sieve.admits(number, in: search) else { return }
    sieve.noteRead()
    guard let candidate = try search.match(number) else { return }
    let place = order.place(of: candidate.record, number: number)
    for (value, shared) in zip(place.values, shared) where !Self.has(value, shared) { return }
    collector.add(candidate.row, at: place)
  }

  /// Returns whether a value equals the shared one. Two values with the same truncated key count as
  /// equal.
  private static func has(_ value: RecordValue?, _ shared: Shared) -> Bool {
    switch shared {
    case .absence: value == nil
    case .key(let key): value.flatMap { ValueKey.key(of: $0) } == key
    }
  }

  /// Reports to the search cache what this search has spent because cached columns or lists are
  /// missing. A cost up to twice that of reading the records of the page is not reported. The
  /// method does nothing without conditions.
  private func reportMissingEntries() throws {
    guard sieve.hasConditions else { return }
    let fair = 2 * Double(search.query.limit) * search.effort.recordCost
    try search.reportMissingEntries(spending: sieve.spent - fair, conditions: sieve.conditions)
  }

  // MARK: Walking

  /// The error that ends a walk because collecting all candidates costs less.
  struct WalkIsLonger: Error {
    /// The level of the walk that ends.
    var level: Int
  }

  /// Visits the records with the shared values, in the order of the sort keys from `level` on,
  /// until the page is full or no records are left.
  ///
  /// If collecting all candidates turns out to cost less, the method removes the records of this
  /// walk from the collector, and calls ``collectAll()``.
  ///
  /// - Parameter level: the level of the walk. Beyond the last sort key, and for a sort key without
  ///   a complete index, the method calls ``collectAll()``.
  /// - Returns: whether the page is full.
  mutating func walk(level: Int) throws -> Bool {
    guard level < keys.count, let path = search.path(along: keys[level].key) else {
      return try collectAll()
    }
    let before = collector
    do {
      // The last record of the previous page, if it has the shared values.
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

  /// Returns the fixed cost of a walk in index entries. For a sort by distance that begins after a
  /// previous page, it is the cost of seeking the first ring; otherwise it is 0.
  private func overhead(level: Int, from start: RecordOrder.Place?) -> Double {
    guard keys[level].relativeLocation != nil, case .double(let distance)? = start?.values[level]
    else { return 0 }
    return Self.effort(ofRingFrom: distance)
  }

  /// Returns whether a record at this place in the order has the shared values.
  private func isShared(by place: RecordOrder.Place) -> Bool {
    zip(place.values, shared).allSatisfy { Self.has($0, $1) }
  }

  /// Returns the cost of one entry of a walk, in index entries: 1, or 3 for a sort by distance,
  /// because a distance must be computed.
  func entryCost(level: Int) -> Double { keys[level].relativeLocation == nil ? 1 : 3 }

  /// Adds all matching records with the shared values to the collector, without a walk. The
  /// collector sorts them.
  ///
  /// If the sieve has no complete set of candidates, it may gather one. If it then has none, the
  /// method reads all records of the type that the sieve does not exclude.
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
