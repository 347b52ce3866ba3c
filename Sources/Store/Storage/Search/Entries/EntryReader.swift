import CloudKitModel
import SQLEngine

/// A reader of the index entries on a path (``AccessPath``), in their order, without their records.
///
/// Between two reads, the reader keeps the position only, and no open statement.
struct EntryReader {
  /// The position of the next read.
  private enum Place {
    /// Before the first entry of a range.
    case before(stretch: Int)
    /// After an entry.
    case after(stretch: Int, key: [UInt8], number: Int64)
    /// After all entries with a key.
    case past(stretch: Int, key: [UInt8])
    /// After the last entry of the path.
    case end
  }

  /// The path that is read.
  let path: AccessPath
  /// The ranges of the path, in the order in which they are read.
  private let stretches: [IndexStretch]
  /// Whether entries are read from the greatest key to the least.
  private let isDescending: Bool
  /// The position of the next read.
  private var place: Place

  /// Creates a reader.
  ///
  /// - Parameters:
  ///   - path: the path to read. Only ``visit(_:in:_:)`` reads the path of a zone; a path of record
  ///     names cannot be read.
  ///   - position: the position of an entry, existing or not, after which reading begins; nil
  ///     begins at the start of the path. Ranges are counted in the order in which they are read.
  ///   - isDescending: whether to read from the greatest key to the least.
  init(
    _ path: AccessPath, after position: AccessPath.Position? = nil, isDescending: Bool = false
  ) {
    self.path = path
    self.isDescending = isDescending
    stretches = isDescending ? path.stretches.reversed() : path.stretches
    if let position {
      place = .after(stretch: position.stretch, key: position.key, number: position.number)
    } else if case .stretches = path.source, stretches.isEmpty {
      place = .end
    } else {
      place = .before(stretch: 0)
    }
  }

  /// Whether all entries of the path have been read or skipped.
  var isAtEnd: Bool {
    if case .end = place { true } else { false }
  }

  /// The position of the last entry that was read, if the last read reached its limit. Before the
  /// first read it is the position that the initializer got. In other cases it is nil.
  var position: AccessPath.Position? {
    guard case .after(let stretch, let key, let number) = place else { return nil }
    return AccessPath.Position(stretch: stretch, key: key, number: number)
  }

  /// The key of all entries of the last read, if the read reached its limit and these entries have
  /// the same key; otherwise nil.
  private(set) var onlyKey: [UInt8]?

  /// Reads the next `limit` entries, and returns those of wanted records.
  ///
  /// - Parameter isWanted: returns whether a record number is wanted. The keys of other entries are
  ///   not copied.
  /// - Returns: the wanted entries, and the number of entries read.
  mutating func entries(
    _ limit: Int, in search: RecordSearch, where isWanted: (Int64) -> Bool
  ) throws -> (wanted: [IndexEntryPlace], count: Int) {
    var wanted: [IndexEntryPlace] = []
    let count = try read(limit, in: search) { stretch, number, row in
      guard isWanted(number) else { return }
      wanted.append(
        IndexEntryPlace(stretch: stretch, key: row.key(Self.keyColumn), number: number))
    }
    return (wanted, count)
  }

  /// Reads the next `limit` entries, and visits their record numbers. Records outside of the path's
  /// circle are not visited.
  ///
  /// - Returns: the number of entries read.
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

  /// Returns the first and the last entry of a range, by two statements; nil if the range has no
  /// entries.
  func span(ofStretch number: Int, in search: RecordSearch) throws -> EntrySpan? {
    let path = AccessPath(source: .stretches([stretches[number]]))
    var ends: [AccessPath.Position] = []
    for isDescending in [false, true] {
      var reader = EntryReader(path, isDescending: isDescending)
      let (entries, _) = try reader.entries(1, in: search) { _ in true }
      ends += entries.map {
        AccessPath.Position(stretch: number, key: $0.key.bytes, number: $0.number)
      }
    }
    return ends.count == 2 ? EntrySpan(first: ends[0], last: ends[1]) : nil
  }

  /// Moves the position behind all entries with this key, without reading them.
  mutating func skip(_ key: [UInt8], stretch: Int) {
    place = .past(stretch: stretch, key: key)
  }

  /// Moves the position to the end of the path.
  mutating func finish() {
    place = .end
  }

  /// The column with the key in the results of the statements of ``EntrySelection``.
  private static let keyColumn: Int32 = 1

  /// Reads up to `limit` entries, and moves the position after them.
  ///
  /// - Parameter visit: gets the index of the range, the record number and the row of each entry.
  ///
  /// - Returns: the number of entries; below `limit` only at the end of the path.
  private mutating func read(
    _ limit: Int, in search: RecordSearch, _ visit: (Int, Int64, any SQLRow) -> Void
  ) throws -> Int {
    var left = limit
    var firstKey: [UInt8]?
    onlyKey = nil
    while left > 0, let part = nextPart() {
      let stretch = part.stretch
      var count = 0
      var last: Place?
      try search.transaction.connection.query(
        ValueIndexTable.sql.entries(
          part.span, isDescending: isDescending, inZone: search.zoneNumber != nil),
        [
          .id(search.database), .integer(stretches[stretch].field),
          .bytes(part.first), part.second, .integer(Int64(left)), .integer(search.zoneNumber ?? 0),
        ]
      ) { row in
        count += 1
        let number = row.integer(0)
        visit(stretch, number, row)
        if count == 1, firstKey == nil { firstKey = row.bytes(Self.keyColumn) }
        if count == left {
          let key = row.bytes(Self.keyColumn)
          if key == firstKey { onlyKey = key }
          last = .after(stretch: stretch, key: key, number: number)
        }
      }
      place = last ?? following(part)
      left -= count
    }
    return limit - left
  }

  /// The part of a range that one statement reads.
  private struct Part {
    var stretch: Int
    var span: EntrySelection.Span
    /// The argument `$3`: a key.
    var first: [UInt8]
    /// The argument `$4`: a key, or a record number for ``EntrySelection/Span/oneKey``.
    var second: SQLValue
  }

  /// Returns the part to read next; nil at the end of the path.
  private func nextPart() -> Part? {
    switch place {
    case .end:
      return nil
    case .before(let stretch):
      let range = stretches[stretch].range
      return Part(
        stretch: stretch, span: .whole, first: range.lower, second: .bytes(range.upper))
    case .after(let stretch, let key, let number):
      return Part(stretch: stretch, span: .oneKey, first: key, second: .integer(number))
    case .past(let stretch, let key):
      let range = stretches[stretch].range
      return isDescending
        ? Part(stretch: stretch, span: .rest, first: range.lower, second: .bytes(key))
        : Part(stretch: stretch, span: .rest, first: key, second: .bytes(range.upper))
    }
  }

  /// Returns the position after a part whose entries have all been read.
  private func following(_ part: Part) -> Place {
    let range = stretches[part.stretch].range
    if part.span == .oneKey, part.first != (isDescending ? range.lower : range.upper) {
      return .past(stretch: part.stretch, key: part.first)
    }
    return part.stretch + 1 < stretches.count ? .before(stretch: part.stretch + 1) : .end
  }

  /// Visits the records of the searched zone, in the order of their versions. The method reads the
  /// index of the table of records, not the value index. A record of another type counts for
  /// `limit`, but is not visited.
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
      [.id(search.database), .integer(zoneNumber), .integer(last), .integer(Int64(limit))]
    ) { row in
      count += 1
      last = row.integer(0)
      if row.integer(1) == wanted { visit(row.integer(2)) }
    }
    place = count < limit ? .end : .after(stretch: 0, key: [], number: last)
    return count
  }
}

/// An entry of the value index on a path.
struct IndexEntryPlace {
  /// The index of the entry's range on the path. Ranges are counted in the order in which they are
  /// read.
  var stretch: Int
  /// The key of the entry.
  var key: IndexKey
  /// The number of the entry's record.
  var number: Int64
}
