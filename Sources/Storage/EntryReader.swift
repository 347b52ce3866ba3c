import CloudKitModel

/// Reads the entries of a path in their order, without their records. It stops at any entry and goes
/// on from there.
struct EntryReader {
  /// Where the entry that was read last stands; nil before the first.
  private(set) var position: AccessPath.Position?
  private(set) var isAtEnd = false
  let path: AccessPath
  private let stretches: [IndexStretch]
  private let isDescending: Bool

  init(
    _ path: AccessPath, after position: AccessPath.Position? = nil, isDescending: Bool = false
  ) {
    self.path = path
    self.isDescending = isDescending
    stretches = isDescending ? path.stretches.reversed() : path.stretches
    self.position = position
  }

  /// The next entries, at most `limit` and at least one unless the path is at its end.
  mutating func entries(_ limit: Int, in search: RecordSearch) throws -> [IndexEntryPlace] {
    var entries: [IndexEntryPlace] = []
    try read(limit, in: search, keepsKeys: true) { stretch, number, key in
      entries.append(IndexEntryPlace(stretch: stretch, key: key, number: number))
    }
    return entries
  }

  /// Puts the next records into a set, of about `limit` entries.
  mutating func insert(
    _ limit: Int, into numbers: inout RecordNumberSet, in search: RecordSearch
  ) throws {
    if case .zone = path.source { return try insertZone(limit, into: &numbers, in: search) }
    var left = limit
    let circle = path.circle
    while left > 0, !isAtEnd {
      try read(left, in: search, keepsKeys: circle != nil) { _, number, key in
        left -= 1
        if let circle, !circle.mayHold(key) { return }
        numbers.insert(number)
      }
    }
  }

  /// Takes up to `limit` entries from the stretch that the reader stands in, or the next one that has
  /// any.
  private mutating func read(
    _ limit: Int, in search: RecordSearch, keepsKeys: Bool,
    _ visit: (Int, Int64, [UInt8]) -> Void
  ) throws {
    while !isAtEnd {
      let index = position?.stretch ?? 0
      guard index < stretches.count else {
        isAtEnd = true
        return
      }
      let stretch = stretches[index]
      let start = position.map { ($0.key, $0.number) }
      var last: ([UInt8], Int64)?
      var count = 0
      try search.session.connection.query(
        search.entrySelection(isDescending: isDescending),
        search.entryArguments(of: stretch, after: start, isDescending: isDescending, limit: limit)
      ) { row in
        count += 1
        let number = row.integer(0)
        if keepsKeys || count == limit {
          let key = row.bytes(1)
          visit(index, number, key)
          last = (key, number)
        } else {
          visit(index, number, [])
        }
      }
      if count == limit, let last {
        position = AccessPath.Position(stretch: index, key: last.0, number: last.1)
        return
      }
      // On to the next stretch; a place before its first entry.
      let next = index + 1
      guard next < stretches.count else {
        isAtEnd = true
        return
      }
      position = Self.beginning(of: stretches[next], at: next, isDescending: isDescending)
      if count > 0 { return }
    }
  }

  /// Moves on behind all entries with this key.
  mutating func skip(_ key: [UInt8], stretch: Int) {
    position = AccessPath.Position(stretch: stretch, key: key, number: isDescending ? -1 : .max)
    isAtEnd = false
  }

  private static func beginning(
    of stretch: IndexStretch, at index: Int, isDescending: Bool
  ) -> AccessPath.Position {
    isDescending
      ? AccessPath.Position(stretch: index, key: stretch.range.upper, number: .max)
      : AccessPath.Position(stretch: index, key: stretch.range.lower, number: -1)
  }

  private mutating func insertZone(
    _ limit: Int, into numbers: inout RecordNumberSet, in search: RecordSearch
  ) throws {
    guard !isAtEnd, let zoneNumber = search.zoneNumber else { return }
    let wanted = search.type.number
    var count = 0
    var last: Int64 = 0
    try search.session.connection.query(
      """
      SELECT version, type_number, record_number FROM records
      WHERE database_id = $1 AND zone_number = $2 AND version > $3 ORDER BY version LIMIT $4
      """,
      [
        .integer(search.database.rawValue), .integer(zoneNumber),
        .integer(position?.number ?? 0), .integer(Int64(limit)),
      ]
    ) { row in
      count += 1
      last = row.integer(0)
      if row.integer(1) == wanted { numbers.insert(row.integer(2)) }
    }
    isAtEnd = count < limit
    position = AccessPath.Position(stretch: 0, key: [], number: last)
  }
}

/// An entry of the value index on a path.
struct IndexEntryPlace {
  /// Which of the path's stretches it lies in, in the reading's order.
  var stretch: Int
  var key: [UInt8]
  var number: Int64
}

extension RecordSearch {
  /// The statement for the entries of a stretch behind a place. In a zone it reads over those of
  /// others, which costs little: the entry has the zone.
  fileprivate func entrySelection(isDescending: Bool) -> String {
    switch (zoneNumber != nil, isDescending) {
    case (false, false): Self.entries + Self.ascending
    case (true, false): Self.entries + Self.inZone + Self.ascending
    case (false, true): Self.entries + Self.descending
    case (true, true): Self.entries + Self.inZone + Self.descending
    }
  }

  private static let entries = """
    SELECT record_number, value_key FROM value_index WHERE database_id = $1 AND field_number = $2
    """
  private static let inZone = " AND zone_number = $7"
  private static let ascending = """
     AND (value_key, record_number) > ($3, $4) AND value_key <= $5
    ORDER BY value_key, record_number LIMIT $6
    """
  private static let descending = """
     AND (value_key, record_number) < ($3, $4) AND value_key >= $5
    ORDER BY value_key DESC, record_number DESC LIMIT $6
    """

  fileprivate func entryArguments(
    of stretch: IndexStretch, after place: ([UInt8], Int64)?, isDescending: Bool, limit: Int
  ) -> [SQLValue] {
    let range = stretch.range
    let (key, number) = place ?? (isDescending ? (range.upper, .max) : (range.lower, -1))
    return [
      .integer(database.rawValue), .integer(stretch.field), .bytes(key), .integer(number),
      .bytes(isDescending ? range.lower : range.upper), .integer(Int64(limit)),
      .integer(zoneNumber ?? 0),
    ]
  }
}
