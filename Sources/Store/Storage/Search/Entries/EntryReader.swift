import SQLEngine

/// A reader of the index entries on a path (``AccessPath``), in their order, without their records.
///
/// Between two reads, the reader keeps the position only, and no open statement.
struct EntryReader {
  /// The position of the next read.
  private enum Place {
    case before(keyRange: Int)
    case after(keyRange: Int, key: [UInt8], number: Int64)
    case past(keyRange: Int, key: [UInt8])
    case end
  }

  let path: AccessPath
  private let keyRanges: [FieldKeyRange]
  private let isDescending: Bool
  private var place: Place

  /// Only ``visit(_:in:_:)`` reads the path of a zone; a path of record names cannot be read.
  ///
  /// - Parameter position: an entry, existing or not, after which reading begins. Its ranges are
  ///   counted in the order of reading.
  init(
    _ path: AccessPath, after position: AccessPath.Position? = nil, isDescending: Bool = false
  ) {
    self.path = path
    self.isDescending = isDescending
    keyRanges = isDescending ? path.keyRanges.reversed() : path.keyRanges
    if let position {
      place = .after(keyRange: position.keyRange, key: position.key, number: position.number)
    } else if case .keyRanges = path.source, keyRanges.isEmpty {
      place = .end
    } else {
      place = .before(keyRange: 0)
    }
  }

  var isAtEnd: Bool {
    if case .end = place { true } else { false }
  }

  /// After the last entry, if the last read reached its limit.
  var position: AccessPath.Position? {
    guard case .after(let keyRange, let key, let number) = place else { return nil }
    return AccessPath.Position(keyRange: keyRange, key: key, number: number)
  }

  /// The key of all entries of the last read, if the read reached its limit and they have the
  /// same.
  private(set) var onlyKey: [UInt8]?

  /// Reads `limit` entries. Keys of unwanted ones are not copied.
  mutating func entries(
    _ limit: Int, in search: RecordSearch, where isWanted: (Int64) -> Bool
  ) throws -> (wanted: [IndexEntryPlace], count: Int) {
    var wanted: [IndexEntryPlace] = []
    let count = try read(limit, in: search) { keyRange, number, row in
      guard isWanted(number) else { return }
      wanted.append(
        IndexEntryPlace(keyRange: keyRange, key: row.key(Self.keyColumn), number: number))
    }
    return (wanted, count)
  }

  /// Does not visit records outside of the path's circle. Returns the number of entries read.
  mutating func visit(
    _ limit: Int, in search: RecordSearch, _ visit: (Int64) -> Void
  ) throws -> Int {
    if case .zone = path.source { return try visitZone(limit, in: search, visit) }
    guard let circle = path.circle else {
      return try read(limit, in: search) { _, number, _ in visit(number) }
    }
    return try read(limit, in: search) { _, number, row in
      if circle.mayHold(row.key(Self.keyColumn).head) { visit(number) }
    }
  }

  /// Runs two statements; nil for a range without entries.
  func span(ofKeyRange number: Int, in search: RecordSearch) throws -> EntrySpan? {
    let path = AccessPath(source: .keyRanges([keyRanges[number]]))
    var ends: [AccessPath.Position] = []
    for isDescending in [false, true] {
      var reader = EntryReader(path, isDescending: isDescending)
      let (entries, _) = try reader.entries(1, in: search) { _ in true }
      ends += entries.map {
        AccessPath.Position(keyRange: number, key: $0.key.bytes, number: $0.number)
      }
    }
    return ends.count == 2 ? EntrySpan(first: ends[0], last: ends[1]) : nil
  }

  mutating func skip(_ key: [UInt8], keyRange: Int) {
    place = .past(keyRange: keyRange, key: key)
  }

  mutating func finish() {
    place = .end
  }

  private static let keyColumn: Int32 = 1

  /// Returns the number of entries; below `limit` only at the end of the path. The visitor gets
  /// the index of the range, the record number and the row.
  private mutating func read(
    _ limit: Int, in search: RecordSearch, _ visit: (Int, Int64, any SQLRow) -> Void
  ) throws -> Int {
    var left = limit
    var firstKey: [UInt8]?
    onlyKey = nil
    while left > 0, let part = nextPart() {
      let keyRange = part.keyRange
      var count = 0
      var last: Place?
      try search.transaction.connection.query(
        ValueIndexTable.sql.entries(
          part.span, isDescending: isDescending, inZone: search.zoneNumber != nil),
        [
          .id(search.database), .integer(keyRanges[keyRange].field), .bytes(part.first),
          part.second,
          .count(left), .integer(search.zoneNumber ?? 0),
        ]
      ) { row in
        count += 1
        let number = row.integer(0)
        visit(keyRange, number, row)
        if count == 1, firstKey == nil { firstKey = row.bytes(Self.keyColumn) }
        if count == left {
          let key = row.bytes(Self.keyColumn)
          if key == firstKey { onlyKey = key }
          last = .after(keyRange: keyRange, key: key, number: number)
        }
      }
      place = last ?? following(part)
      left -= count
    }
    return limit - left
  }

  /// The part that one statement reads.
  private struct Part {
    var keyRange: Int
    var span: EntrySelection.Span
    var first: [UInt8]
    /// `$4`: a key, or a record number for ``EntrySelection/Span/oneKey``.
    var second: SQLValue
  }

  private func nextPart() -> Part? {
    switch place {
    case .end:
      return nil
    case .before(let keyRange):
      let range = keyRanges[keyRange].range
      return Part(
        keyRange: keyRange, span: .whole, first: range.lower, second: .bytes(range.upper))
    case .after(let keyRange, let key, let number):
      return Part(keyRange: keyRange, span: .oneKey, first: key, second: .integer(number))
    case .past(let keyRange, let key):
      let range = keyRanges[keyRange].range
      return isDescending
        ? Part(keyRange: keyRange, span: .rest, first: range.lower, second: .bytes(key))
        : Part(keyRange: keyRange, span: .rest, first: key, second: .bytes(range.upper))
    }
  }

  private func following(_ part: Part) -> Place {
    let range = keyRanges[part.keyRange].range
    if part.span == .oneKey, part.first != (isDescending ? range.lower : range.upper) {
      return .past(keyRange: part.keyRange, key: part.first)
    }
    return part.keyRange + 1 < keyRanges.count ? .before(keyRange: part.keyRange + 1) : .end
  }

  /// In the order of versions, by the index of the table of records. A record of another type
  /// counts for `limit`, but is not visited.
  private mutating func visitZone(
    _ limit: Int, in search: RecordSearch, _ visit: (Int64) -> Void
  ) throws -> Int {
    guard !isAtEnd, let zoneNumber = search.zoneNumber else { return 0 }
    let wanted = search.type.number
    var count = 0
    var last: Int64 = 0
    if case .after(_, _, let version) = place { last = version }
    try search.transaction.connection.query(
      RecordTable.sql.inZone,
      [.id(search.database), .integer(zoneNumber), .integer(last), .count(limit)]
    ) { row in
      count += 1
      last = row.integer(0)
      if row.integer(1) == wanted { visit(row.integer(2)) }
    }
    place = count < limit ? .end : .after(keyRange: 0, key: [], number: last)
    return count
  }
}

/// An entry of the value index on a path.
struct IndexEntryPlace {
  /// Among the ranges in the order of reading.
  var keyRange: Int
  var key: IndexKey
  var number: Int64
}

/// The ends of a range of the value index, by which a search estimates which fraction of the range
/// a reader has read.
struct EntrySpan {
  var first: AccessPath.Position
  var last: AccessPath.Position

  /// The estimated fraction (0–1) of entries before an entry, as if keys, or the numbers of one
  /// key, were spread evenly.
  func share(before entry: AccessPath.Position) -> Double? {
    if first.key == last.key {
      let width = Double(last.number - first.number)
      return width > 0 ? Double(entry.number - first.number) / width : nil
    }
    // All keys of the range begin with the same bytes, so the estimate starts after these.
    let common = zip(first.key, last.key).prefix { $0 == $1 }.count
    let start = Self.word(of: first.key, from: common)
    // The subtraction uses integers, because two neighbours may differ in the last bits only, which
    // a `Double` would lose.
    let passed = Self.word(of: entry.key, from: common) &- start
    let width = Self.word(of: last.key, from: common) &- start
    return passed > 0 ? min(1, Double(passed) / Double(width)) : nil
  }

  private static func word(of key: [UInt8], from start: Int) -> UInt64 {
    (start..<start + 8).reduce(0) { $0 << 8 | UInt64($1 < key.count ? key[$1] : 0) }
  }
}

/// The statements that read entries of the value index. The argument `$1` is the database, `$2` the
/// number of the field, `$5` the most entries, and `$6` the zone.
///
/// A position is a key and a record number. A statement that compares both together takes twice
/// the time for each entry. So one statement reads the entries with the key of the position, and
/// another those with later keys.
///
/// To search one zone, a statement skips the entries of others, which contain their zones.
struct EntrySelection {
  /// The part of a range that a statement reads.
  enum Span {
    /// Keys from `$3` to `$4`, both inclusive.
    case whole
    /// The key `$3`, and record numbers after `$4`.
    case oneKey
    /// Keys from `$3` to `$4`, without the key at which reading began: `$3` in ascending order,
    /// `$4` in descending order.
    case rest
  }

  /// There are twelve statements, so that each connection prepares each once. In descending order,
  /// the numbers of ``Span/oneKey`` are below `$4`.
  func callAsFunction(_ span: Span, isDescending: Bool, inZone: Bool) -> Statement {
    let statements =
      switch span {
      case .whole: whole
      case .oneKey: oneKey
      case .rest: rest
      }
    return statements[(isDescending ? 2 : 0) + (inZone ? 1 : 0)]
  }

  private let whole = statements(
    up: "value_key >= $3 AND value_key <= $4", down: "value_key >= $3 AND value_key <= $4")
  private let oneKey = statements(
    up: "value_key = $3 AND record_number > $4", down: "value_key = $3 AND record_number < $4")
  private let rest = statements(
    up: "value_key > $3 AND value_key <= $4", down: "value_key >= $3 AND value_key < $4")

  /// Upwards, then downwards, each for all zones and for one.
  private static func statements(up: String, down: String) -> [Statement] {
    [(up, "value_key, record_number"), (down, "value_key DESC, record_number DESC")].flatMap {
      condition, order in
      ["", " AND zone_number = $6"].map { zone in
        Statement(
          """
          SELECT record_number, value_key FROM value_index WHERE database_id = $1
            AND field_number = $2 AND \(condition)\(zone) ORDER BY \(order) LIMIT $5
          """)
      }
    }
  }
}
