import CloudKitModel

extension SortedSearch {
  /// Walks a field's values in their order.
  mutating func walkValues(
    of path: AccessPath, level: Int, from start: RecordOrder.Place?
  ) throws -> Bool {
    let isDescending = !keys[level].ascending
    let isLast = level == keys.count - 1
    var reader = EntryReader(path, isDescending: isDescending)
    if let value = start?.values[level], let key = ValueKey.key(of: value) {
      guard let stretch = Self.stretch(of: key, on: path, isDescending: isDescending) else {
        return false
      }
      // Texts that share a cut key are not in their order, and records with one value not in that of
      // the next key: see them all again, and let the collector tell which are past.
      let isExact = isLast && key.count < ValueKey.textLimit
      let number = isExact ? start?.number ?? 0 : isDescending ? Int64.max : -1
      reader = EntryReader(
        path, after: AccessPath.Position(stretch: stretch, key: key, number: number),
        isDescending: isDescending)
    }
    return isLast
      ? try walkInOrder(&reader, level: level)
      : try walkGroups(&reader, level: level)
  }

  /// The stretch that a key lies in, or the next one after it in the reading's order.
  private static func stretch(
    of key: [UInt8], on path: AccessPath, isDescending: Bool
  ) -> Int? {
    if isDescending {
      return path.stretches.reversed().firstIndex {
        !key.lexicographicallyPrecedes($0.range.lower)
      }
    }
    return path.stretches.firstIndex { !$0.range.upper.lexicographicallyPrecedes(key) }
  }

  /// By the last sort key: records with one value come in the order of their numbers, as their
  /// entries do.
  private mutating func walkInOrder(_ reader: inout EntryReader, level: Int) throws -> Bool {
    var lastKey = IndexKey([])
    var size = search.query.limit + 24
    while !reader.isAtEnd {
      for entry in try reader.entries(size, in: search) {
        if entry.key != lastKey || entry.key.count < ValueKey.textLimit, collector.isFull {
          return true
        }
        lastKey = entry.key
        try pass(level: level)
        try consider(entry.number)
      }
      size = min(size * 2, 4_096)
    }
    return collector.isFull
  }

  /// By a key that others follow: record by record with one value, then the next.
  private mutating func walkGroups(_ reader: inout EntryReader, level: Int) throws -> Bool {
    var key = IndexKey([])
    var group: [Int64] = []
    while !reader.isAtEnd {
      // A group that is too large is found soon.
      for entry in try reader.entries(search.effort.groupLimit + 100, in: search) {
        if entry.key != key {
          if try collect(&group) { return true }
          key = entry.key
        }
        try pass(level: level)
        if sieve.mayMatch(entry.number) { group.append(entry.number) }
        guard group.count > search.effort.groupLimit, key.count < ValueKey.textLimit else {
          continue
        }
        group = []
        if try walkGroup(of: key.bytes, level: level) { return true }
        reader.skip(key.bytes, stretch: entry.stretch)
        break
      }
    }
    return try collect(&group)
  }

  private mutating func collect(_ group: inout [Int64]) throws -> Bool {
    for number in group { try consider(number) }
    group = []
    return collector.isFull
  }

  /// Goes through the many records with one value by the next key.
  private mutating func walkGroup(of key: [UInt8], level: Int) throws -> Bool {
    guard let field = search.type.field(for: keys[level].key) else { return false }
    sieve.push(
      AccessPath(
        source: .stretches([IndexStretch(field: field.number, range: KeyRange(key))])))
    shared.append(.key(key))
    defer {
      shared.removeLast()
      sieve.pop()
    }
    return try walk(level: level + 1)
  }
}
