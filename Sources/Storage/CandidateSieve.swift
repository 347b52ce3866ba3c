import CloudKitModel

/// Tells of most records that cannot match that they cannot, without reading them.
///
/// It has a part for each path that leads to all matches, and for each that leads to none. A part
/// helps when all its record numbers are known, and reading them takes a thirtieth of the time that
/// reading as many records takes. So they are read step by step, and only while records that were read
/// for nothing took as long: whichever way is the shorter, the search takes at most about twice as
/// long.
struct CandidateSieve {
  private struct Part {
    var reader: EntryReader
    var numbers = RecordNumberSet()
    /// Whether records that are in it cannot match, instead of those that are not.
    var excludes: Bool
    var isComplete: Bool { reader.isAtEnd }

    mutating func read(_ limit: Int, in search: RecordSearch) throws {
      try reader.insert(limit, into: &numbers, in: search)
    }
  }

  /// Index entries that are read for each record that was read for nothing.
  private static let exchange = 32

  private var parts: [Part]
  private var rejections = 0

  /// - Parameters:
  ///   - paths: each leads to all matches.
  ///   - excluded: none of these leads to a match.
  init(_ paths: [AccessPath], excluding excluded: [AccessPath]) {
    parts =
      paths.filter { if case .names = $0.source { false } else { true } }
      .map { Part(reader: EntryReader($0), excludes: false) }
      + excluded.map { Part(reader: EntryReader($0), excludes: true) }
  }

  func mayMatch(_ number: Int64) -> Bool {
    for part in parts
    where part.isComplete && part.numbers.contains(number) == part.excludes { return false }
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

  /// Notes that a record was read for nothing.
  ///
  /// - Parameter share: the share of the page that is there already.
  mutating func reject(share: Double, in search: RecordSearch) throws {
    rejections += 1
    let effort = search.effort
    guard rejections >= effort.patience, rejections % effort.interval == 0 else { return }
    // When the page will be full soon in any case, there is nothing to gain.
    if Double(rejections) * (1 - share) < 2 * Double(effort.patience) * share { return }
    let incomplete = parts.indices.filter { !parts[$0].isComplete }
    for index in incomplete {
      try parts[index].read(effort.interval * Self.exchange / incomplete.count, in: search)
    }
  }

  /// Adds a path that leads to all matches, or none.
  mutating func push(_ path: AccessPath, excludes: Bool = false) {
    parts.append(Part(reader: EntryReader(path), excludes: excludes))
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
