import CloudKitModel

/// The search for one page in the order of the sort keys, or of the record numbers.
///
/// If there are few candidates, the search reads and sorts them all. Otherwise it *walks* the
/// index of the first sort key: it visits record numbers in the order of the index. The candidate filter
/// (``CandidateFilter``) excludes most records that cannot match before they are read.
///
/// - Records with the same value come in the order of the next sort key. If there are many, the
///   search walks its index; the *shared* value is then a further condition.
/// - Records without a value come last, in the order of the next sort key.
/// - A sort by distance visits the places in growing rings around a centre.
///
/// A *level* is the index of a sort key in ``keys``. A walk has the level of the sort key whose
/// index it follows.
struct SortedSearch {
  /// The common value of a walk's records for a sort key before the walk's own.
  enum Shared {
    case key([UInt8])
    case absence
  }

  let search: RecordSearch
  let order: RecordOrder
  var collector: RecordCollector
  var candidateFilter: CandidateFilter
  /// One for each sort key before the walk's own.
  var shared: [Shared] = []
  private(set) var ranking: CandidateRanking?

  var keys: [SortKey] { order.sortKeys }

  init(_ search: RecordSearch) throws {
    self.search = search
    order = RecordOrder(sortKeys: search.query.query.sortKeys)
    collector = RecordCollector(order: order, limit: search.query.limit)
    candidateFilter = CandidateFilter(try search.conditions(), effort: search.effort)
  }

  /// The caller sets `collector.start` for a later page. Returns the place of the last record if
  /// more follow.
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
      if candidateFilter.hasConditions { try candidateFilter.completeLast(in: search) }
      ranking = try search.ranking()
      _ = try collectAll()
    } else {
      try candidateFilter.prepare(in: search)
      ranking = try search.ranking()
      candidateFilter.rankCost = ranking.map { $0.effort * search.effort.rankCost }
      _ = try walk(level: 0)
      try reportMissingEntries()
    }
    return collector.page()
  }

  /// All candidates in ascending order, for a filter on record names, or for one zone without sort
  /// keys; otherwise nil.
  private mutating func fewCandidates() throws -> [Int64]? {
    for path in search.paths {
      if case .names(let names) = path.source { return try search.numbers(ofRecordsNamed: names) }
    }
    return keys.isEmpty ? try search.recordsOfZone()?.sorted : nil
  }

  /// Reads a record unless the candidate filter excludes it, and collects it if it matches and has the shared
  /// values.
  mutating func consider(_ number: Int64) throws {
    guard try candidateFilter.admits(number, in: search) else { return }
    candidateFilter.noteRead()
    guard let candidate = try search.match(number) else { return }
    let place = order.place(of: candidate.record, number: number)
    for (value, shared) in zip(place.values, shared) where !Self.has(value, shared) { return }
    collector.add(candidate.row, at: place)
  }

  /// Values with the same truncated key count as equal.
  private static func has(_ value: RecordValue?, _ shared: Shared) -> Bool {
    switch shared {
    case .absence: value == nil
    case .key(let key): value.flatMap { ValueKey.key(of: $0) } == key
    }
  }

  /// The cost of missing columns and lists. Up to twice the cost of reading the page's records is
  /// not reported.
  private func reportMissingEntries() throws {
    guard candidateFilter.hasConditions else { return }
    let fair = 2 * Double(search.query.limit) * search.effort.recordCost
    try search.reportMissingEntries(
      spending: candidateFilter.spent - fair, conditions: candidateFilter.conditions)
  }

  // MARK: Walking

  /// Ends a walk because collecting all candidates costs less.
  struct WalkIsLonger: Error {
    var level: Int
  }

  /// Visits the records with the shared values, by the sort keys from `level` on, until the page
  /// is full, and returns whether it is.
  ///
  /// If collecting all candidates turns out to cost less, the records of this walk are removed
  /// from the collector, and ``collectAll()`` follows. It also serves beyond the last sort key,
  /// and for a sort key without a complete index.
  mutating func walk(level: Int) throws -> Bool {
    guard level < keys.count, let path = search.path(along: keys[level].key) else {
      return try collectAll()
    }
    let before = collector
    do {
      // The last record of the previous page, if it has the shared values.
      var start: RecordOrder.Place?
      if let place = collector.start, isShared(by: place) { start = place }
      candidateFilter.beginWalk(
        along: search.indexOfPath(along: keys[level].key),
        overhead: overhead(level: level, from: start))
      defer { candidateFilter.endWalk() }
      let step = try candidateFilter.advise(
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

  /// In index entries.
  private func overhead(level: Int, from start: RecordOrder.Place?) -> Double {
    guard keys[level].relativeLocation != nil, case .double(let distance)? = start?.values[level]
    else { return 0 }
    return Self.effort(ofRingFrom: distance)
  }

  private func isShared(by place: RecordOrder.Place) -> Bool {
    zip(place.values, shared).allSatisfy { Self.has($0, $1) }
  }

  func entryCost(level: Int) -> Double { keys[level].relativeLocation == nil ? 1 : 3 }

  /// Collects all matches with the shared values without a walk, and returns whether the page is
  /// full.
  ///
  /// Without a complete set of candidates, the candidate filter may gather one. Otherwise all records of the
  /// type that the candidate filter does not exclude are read.
  mutating func collectAll() throws -> Bool {
    if case .key? = shared.last, candidateFilter.candidates == nil {
      try candidateFilter.completeLast(in: search)
    }
    if candidateFilter.candidates == nil {
      _ = try candidateFilter.advise(
        wanted: collector.missing, sorting: 1, mayWalk: false, in: search)
    }
    if let candidates = candidateFilter.candidates {
      if let ranking { return try collectRanked(candidates, by: ranking) }
      for number in candidates.sorted { try consider(number) }
      return collector.isFull
    }
    var reader = EntryReader(search.pathToAll)
    while !reader.isAtEnd {
      let filter = candidateFilter
      let (entries, _) = try reader.entries(4_096, in: search) { filter.mayMatch($0) }
      for entry in entries { try consider(entry.number) }
    }
    return collector.isFull
  }
}
