import CloudKitModel

/// Tells of most records that cannot match that they cannot, without reading them.
///
/// It has a part for each path that leads to all matches, and for each that leads to none. A part
/// knows for certain when all its record numbers were read; before that, the index can be asked for
/// single records where the path is that of one value. Both take effort: so paths are read step by
/// step, and only as far as records, and questions, were for nothing. Whichever way is the shorter, the
/// search takes at most a few times as long.
struct CandidateSieve {
  private struct Part {
    var reader: EntryReader
    var numbers = RecordNumberSet()
    /// Whether records that are in it cannot match, instead of those that are not.
    var excludes: Bool
    /// One for each of the path's keys; empty where there are many.
    var windows: [NumberWindow]
    var questions = 0
    var refusals = 0
    var isComplete: Bool { reader.isAtEnd }

    init(_ path: AccessPath, excludes: Bool) {
      reader = EntryReader(path)
      self.excludes = excludes
      let windows = path.stretches.prefix(3).compactMap { NumberWindow($0) }
      let isAskable = !excludes && windows.count <= 2 && windows.count == path.stretches.count
      self.windows = isAskable ? windows : []
    }

    /// Whether to ask the index is cheaper than to read the records that it lets pass.
    var isWorthAsking: Bool {
      !isComplete && !windows.isEmpty && (questions < 32 || refusals * 2 > questions)
    }

    mutating func read(_ limit: Int, in search: RecordSearch) throws {
      try reader.insert(limit, into: &numbers, in: search)
    }

    /// Whether the path leads to the record, and what it took to learn that.
    mutating func ask(
      _ number: Int64, in search: RecordSearch
    ) throws -> (holds: Bool, cost: Int) {
      let before = windows.reduce(0) { $0 + $1.cost }
      var holds = false
      for index in windows.indices where !holds {
        holds = try windows[index].contains(number, in: search)
      }
      questions += 1
      if !holds { refusals += 1 }
      return (holds, windows.reduce(1) { $0 + $1.cost } - before)
    }
  }

  private var parts: [Part]
  /// The effort that was for nothing so far, in entries, and how much of it led to reading paths.
  private var spent = 0
  private var answered = 0

  /// - Parameters:
  ///   - paths: each leads to all matches.
  ///   - excluded: none of these leads to a match.
  init(_ paths: [AccessPath], excluding excluded: [AccessPath]) {
    parts =
      paths.filter { if case .names = $0.source { false } else { true } }
      .map { Part($0, excludes: false) } + excluded.map { Part($0, excludes: true) }
  }

  /// What can be told without any effort.
  func mayMatch(_ number: Int64) -> Bool {
    for part in parts
    where part.isComplete && part.numbers.contains(number) == part.excludes { return false }
    return true
  }

  /// Asks the index where that is worth while.
  ///
  /// - Parameter share: the share of the page that is there already.
  mutating func admits(_ number: Int64, share: Double, in search: RecordSearch) throws -> Bool {
    guard mayMatch(number) else { return false }
    for index in parts.indices where parts[index].isWorthAsking {
      let (holds, cost) = try parts[index].ask(number, in: search)
      guard holds else {
        try spend(cost, share: share, in: search)
        return false
      }
    }
    return true
  }

  /// All records that can match, and some more, when they are known; the smallest such set.
  var candidates: RecordNumberSet? {
    parts.filter { $0.isComplete && !$0.excludes }.map(\.numbers).min { $0.count < $1.count }
  }

  var candidateCount: Int? {
    var least: Int?
    for part in parts where part.isComplete && !part.excludes {
      least = min(least ?? .max, part.numbers.count)
    }
    return least
  }

  /// Reads the paths to matches up to about `limit` entries each.
  mutating func look(_ limit: Int, in search: RecordSearch) throws {
    for index in parts.indices where !parts[index].excludes {
      let left = limit - parts[index].numbers.count
      if left > 0 { try parts[index].read(left, in: search) }
    }
  }

  /// Those of some records, in rising order, to which all paths lead that can be asked; nil when to
  /// learn that takes more effort than the limit, in entries.
  mutating func ask(
    _ numbers: [Int64], upTo limit: Int, in search: RecordSearch
  ) throws -> [Int64]? {
    var left = limit
    var found: [Int64] = []
    for number in numbers where mayMatch(number) {
      var holdsAll = true
      for index in parts.indices
      where holdsAll && !parts[index].isComplete && !parts[index].windows.isEmpty {
        let (holds, cost) = try parts[index].ask(number, in: search)
        left -= cost
        holdsAll = holds
      }
      if left < 0 { return nil }
      if holdsAll { found.append(number) }
    }
    return found
  }

  /// Notes that a record was read for nothing.
  ///
  /// - Parameter share: the share of the page that is there already.
  mutating func reject(share: Double, in search: RecordSearch) throws {
    try spend(SearchEffort.recordCost, share: share, in: search)
  }

  private mutating func spend(_ cost: Int, share: Double, in search: RecordSearch) throws {
    spent += cost
    let effort = search.effort
    guard spent >= effort.patience, spent - answered >= effort.interval else { return }
    // When the page will be full soon in any case, there is nothing to gain.
    if Double(spent) * (1 - share) < Double(effort.closeness) * share { return }
    let incomplete = parts.indices.filter { !parts[$0].isComplete }
    guard !incomplete.isEmpty else { return }
    // To read a path as far as what was spent is fair; twice that ends sooner where it helps.
    for index in incomplete {
      try parts[index].read(2 * (spent - answered) / incomplete.count + 1, in: search)
    }
    answered = spent
  }

  /// Adds a path that leads to all matches, or none.
  mutating func push(_ path: AccessPath, excludes: Bool = false) {
    parts.append(Part(path, excludes: excludes))
  }

  /// Reads the last part to its end.
  mutating func completeLast(in search: RecordSearch) throws {
    while !parts[parts.count - 1].isComplete {
      try parts[parts.count - 1].read(1 << 16, in: search)
    }
  }

  mutating func pop() {
    parts.removeLast()
  }
}
