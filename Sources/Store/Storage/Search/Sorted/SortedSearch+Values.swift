import CloudKitModel

extension SortedSearch {
  /// Visits a field's values in their order.
  ///
  /// - Parameters:
  ///   - path: the path through the field's values.
  ///   - level: the index of the sort key.
  ///   - start: the end of the previous page, if it was among the walk's records.
  /// - Returns: whether the page is full.
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
      // Texts with the same truncated key are not in order, and records with one value are not in
      // the order of the next key. So these records are visited again, and the collector skips
      // those of earlier pages.
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

  /// Returns the index of the range that contains a key, or of the next one in the order of
  /// reading; nil if there is none.
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

  /// Visits the values of the last sort key. Records with one value come in the order of their
  /// numbers, like their entries.
  private mutating func walkInOrder(_ reader: inout EntryReader, level: Int) throws -> Bool {
    var lastKey = IndexKey([])
    var size = search.query.limit + 24
    while !reader.isAtEnd {
      for entry in try entries(of: &reader, size) {
        if entry.key != lastKey || entry.key.count < ValueKey.textLimit, collector.isFull {
          return true
        }
        lastKey = entry.key
        try consider(entry.number)
      }
      if collector.isFull, lastKey.count < ValueKey.textLimit { return true }
      size = min(size * 2, 4_096)
    }
    return collector.isFull
  }

  /// Returns the entries of records that may match, among a walk's next `limit` entries.
  mutating func entries(of reader: inout EntryReader, _ limit: Int) throws -> [IndexEntryPlace] {
    let filter = sieve
    let (entries, count) = try reader.entries(limit, in: search) { filter.mayMatch($0) }
    sieve.pass(count)
    return entries
  }

  /// Visits the values of a key that others follow: the records with one value, then the next
  /// value.
  ///
  /// A few records with one value are read and sorted. If they are more than
  /// `SearchEffort.groupLimit`, the search walks the index of the next key.
  private mutating func walkGroups(_ reader: inout EntryReader, level: Int) throws -> Bool {
    var key = IndexKey([])
    var group: [Int64] = []
    while !reader.isAtEnd {
      let entries = try entries(of: &reader, search.effort.groupLimit + 1)
      if let large = reader.onlyKey, large.count < ValueKey.textLimit, let place = reader.position {
        if IndexKey(large) == key { group = [] }
        if try collect(&group, level: level) { return true }
        if try walkGroup(of: large, level: level) { return true }
        reader.skip(large, stretch: place.stretch)
        continue
      }
      for entry in entries {
        if entry.key != key {
          if try collect(&group, level: level) { return true }
          key = entry.key
        }
        group.append(entry.number)
      }
    }
    return try collect(&group, level: level)
  }

  /// Reads the records of a group, and empties the group. The collector sorts the records.
  ///
  /// - Returns: whether the page is full.
  private mutating func collect(_ group: inout [Int64], level: Int) throws -> Bool {
    for number in group {
      try consider(number)
    }
    group = []
    return collector.isFull
  }

  /// Visits the records with one value in the order of the next key, by a walk. It is used for many
  /// such records.
  ///
  /// - Throws: ``WalkIsLonger`` if collecting the candidates of the whole walk costs less than this
  ///   group.
  private mutating func walkGroup(of key: [UInt8], level: Int) throws -> Bool {
    guard let field = search.type.field(for: keys[level].key) else { return false }
    let stretch = IndexStretch(field: field.number, range: KeyRange(key))
    guard !sieve.rulesOut(stretch) else { return collector.isFull }
    // A value that every match has needs no further condition.
    let isNew = !sieve.hasCondition(of: stretch)
    let collecting = sieve.cost(of: collector.missing, sorting: 1, mayWalk: false)
    if isNew {
      let path = AccessPath(source: .stretches([stretch]))
      try sieve.push(try search.condition(of: path), in: search)
    }
    shared.append(.key(key))
    defer {
      shared.removeLast()
      if isNew { sieve.pop() }
    }
    if collecting.isFinite, level + 1 < keys.count {
      sieve.beginWalk(along: search.indexOfPath(along: keys[level + 1].key))
      defer { sieve.endWalk() }
      let cost = sieve.cost(
        of: collector.missing, sorting: entryCost(level: level + 1))
      if collecting < cost { throw WalkIsLonger(level: level) }
    }
    return try walk(level: level + 1)
  }
}
