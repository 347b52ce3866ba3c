import CloudKitModel

/// The search for one page of a query in the order of its sort keys; without any, in the order of
/// the records' numbers.
///
/// Few candidates are read and sorted. Otherwise the index of the first sort key is walked in
/// order, with the sieve between it and the records. Records that share a value come in the order
/// of the next key: if they are many, by a walk of that key's index with the shared value as a
/// further condition. Records without a value come last, also in the order of the next key. A
/// distance is walked in rings.
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

  /// Returns the page, and its last place if there are more records.
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

  /// Returns the record numbers in order, if they are known to be few or need no other order;
  /// otherwise nil.
  private mutating func fewCandidates() throws -> [Int64]? {
    for path in search.paths {
      if case .names(let names) = path.source { return try search.numbers(ofRecordsNamed: names) }
    }
    return keys.isEmpty ? try search.recordsOfZone()?.sorted : nil
  }

  /// Reads a record, and collects it if it matches and has the shared values.
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

  /// Reports the cost beyond twice that of the page's own records, if cache entries could have
  /// saved it.
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
  /// the page is full or there are no more.
  ///
  /// If collecting all candidates is found to cost less, it drops what the walk has collected and
  /// collects them.
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

  /// Returns the cost of an entry of a walk; a place needs a distance.
  func entryCost(level: Int) -> Double { keys[level].relativeLocation == nil ? 1 : 3 }

  /// Collects all records with the shared values: no index has the remaining order, or walking it
  /// costs more.
  ///
  /// Without a set of candidates it may gather one. Otherwise it reads all records of the type.
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
