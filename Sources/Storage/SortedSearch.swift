import CloudKitModel

/// One page of a query in the order of its sort keys; without any, in that of the records' numbers.
///
/// Few candidates are read whole and sorted. Otherwise the index of the first sort key is walked in
/// order, with the sieve between it and the records. Records that share a value come in the order of
/// the next key: when they are many, by a walk of that key's index with the shared value as one more
/// condition. Records without a value come last, and likewise in the order of the next key. A
/// distance is walked in rings.
struct SortedSearch {
  /// What the records of a walk have in common in an earlier sort key.
  enum Shared {
    case key([UInt8])
    case absence
  }

  let search: RecordSearch
  let order: RecordOrder
  var collector: RecordCollector
  var sieve: CandidateSieve
  var shared: [Shared] = []
  /// Entries that the walk of the first key has passed.
  var passed = 0

  var keys: [SortKey] { order.sortKeys }

  init(_ search: RecordSearch) {
    self.search = search
    order = RecordOrder(sortKeys: search.query.query.sortKeys)
    collector = RecordCollector(order: order, limit: search.query.limit)
    sieve = search.sieve()
  }

  /// The page, and its last place when there is more.
  mutating func run() throws -> ([StoredRecord.Row], RecordOrder.Place?) {
    if let few = try fewCandidates() {
      try consider(few)
    } else {
      do {
        _ = try walk(level: 0)
      } catch is WalkIsLonger {
        // The walk passes far more than there are candidates: read them all after all.
        collector = collector.emptied
        try consider(sieve.candidates?.sorted ?? [])
      }
    }
    return collector.page()
  }

  /// Thrown when reading all candidates takes less time than to walk on.
  struct WalkIsLonger: Error {}

  /// All candidates in the order of their numbers, when they are known to be few.
  private mutating func fewCandidates() throws -> [Int64]? {
    for path in search.paths {
      if case .names(let names) = path.source { return try search.numbers(ofRecordsNamed: names) }
    }
    if keys.isEmpty { return try search.recordsOfZone()?.sorted }
    let few = search.effort.fewRecords
    try sieve.look(keys.count == 1 ? few + 1 : search.effort.longLook, in: search)
    guard let count = sieve.candidateCount, count <= few else { return nil }
    return sieve.candidates?.sorted
  }

  /// Reads these records, in the order of their numbers, and collects those that match.
  private mutating func consider(_ numbers: [Int64]) throws {
    for number in numbers {
      if keys.isEmpty {
        if let start = collector.start, number <= start.number { continue }
        if collector.isFull { return }
      }
      try consider(number)
    }
  }

  /// Reads a record and collects it when it matches and has what is shared.
  mutating func consider(_ number: Int64) throws {
    guard try sieve.admits(number, share: collector.share, in: search) else { return }
    guard let candidate = try search.match(number) else {
      return try sieve.reject(share: collector.share, in: search)
    }
    let place = order.place(of: candidate.record, number: number)
    for (value, shared) in zip(place.values, shared) where !Self.has(value, shared) {
      return try sieve.reject(share: collector.share, in: search)
    }
    collector.add(candidate.row, at: place)
  }

  private static func has(_ value: RecordValue?, _ shared: Shared) -> Bool {
    switch shared {
    case .absence: value == nil
    case .key(let key): value.flatMap { ValueKey.key(of: $0) } == key
    }
  }

  // MARK: Walking

  /// Walks through the records with the values shared so far in the order of the sort keys from
  /// `level` on, until the page is full or there are no more. Returns whether the page is full.
  mutating func walk(level: Int) throws -> Bool {
    guard level < keys.count, let path = search.path(along: keys[level].key) else {
      return try collectAll(level: level)
    }
    // Where the page before ended, when that was among these records.
    var start: RecordOrder.Place?
    if let place = collector.start, isShared(by: place) { start = place }
    if start == nil || start?.values[level] != nil {
      let isFull =
        keys[level].relativeLocation == nil
        ? try walkValues(of: path, level: level, from: start)
        : try walkRings(of: path, level: level, from: start)
      if isFull { return true }
    }
    return try walkAbsent(level: level, from: start)
  }

  private func isShared(by place: RecordOrder.Place) -> Bool {
    zip(place.values, shared).allSatisfy { Self.has($0, $1) }
  }

  /// Notes that the walk passed an entry.
  mutating func pass(level: Int) throws {
    passed += 1
    guard level == 0, passed % 1_024 == 0 || passed == search.effort.walkLimit,
      let count = sieve.candidateCount
    else { return }
    // An entry takes about a thirtieth of the time that a record takes.
    if passed > search.effort.walkLimit + 16 * count { throw WalkIsLonger() }
  }

  /// Collects all records with the values shared so far: by what comes now, no index is in order.
  private mutating func collectAll(level: Int) throws -> Bool {
    if case .key? = shared.last { try sieve.completeLast(in: search) }
    if let candidates = sieve.candidates {
      for number in candidates.sorted { try consider(number) }
      return collector.isFull
    }
    var reader = EntryReader(search.pathToAll)
    while !reader.isAtEnd {
      for entry in try reader.entries(4_096, in: search) { try consider(entry.number) }
    }
    return collector.isFull
  }
}
