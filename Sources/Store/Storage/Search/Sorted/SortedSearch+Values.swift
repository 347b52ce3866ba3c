extension SortedSearch {
  /// Visits the records of a walk in the order of a field's values, as the sort key says. `start`
  /// is the last record of the previous page, if it has the shared values of the walk. Returns
  /// whether the page is full.
  mutating func walkValues(
    of path: AccessPath, level: Int, from start: RecordOrder.Place?
  ) throws -> Bool {
    let isDescending = !keys[level].ascending
    let isLast = level == keys.count - 1
    var reader = EntryReader(path, isDescending: isDescending)
    if let value = start?.values[level], let key = ValueKey.key(of: value) {
      guard let keyRange = Self.keyRange(of: key, on: path, isDescending: isDescending) else {
        return false
      }
      // The index does not sort texts with the same truncated key, nor records with one value by
      // the next sort key. So the records with the last key are visited again, and the collector
      // skips those of earlier pages.
      let isExact = isLast && key.count < ValueKey.textLimit
      let number = isExact ? start?.number ?? 0 : isDescending ? Int64.max : -1
      reader = EntryReader(
        path, after: AccessPath.Position(keyRange: keyRange, key: key, number: number),
        isDescending: isDescending)
    }
    return isLast
      ? try walkInOrder(&reader, level: level)
      : try walkGroups(&reader, level: level)
  }

  /// The range with a key, or the first after it, counted in the order of reading.
  private static func keyRange(
    of key: [UInt8], on path: AccessPath, isDescending: Bool
  ) -> Int? {
    if isDescending {
      return path.keyRanges.reversed().firstIndex {
        !key.lexicographicallyPrecedes($0.range.lower)
      }
    }
    return path.keyRanges.firstIndex { !$0.range.upper.lexicographicallyPrecedes(key) }
  }

  /// Walks by the last sort key. Records with one value come by number, as in the index.
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

  /// Leaves out records that the complete conditions exclude.
  mutating func entries(of reader: inout EntryReader, _ limit: Int) throws -> [IndexEntryPlace] {
    let filter = candidateFilter
    let (entries, count) = try reader.entries(limit, in: search) { filter.mayMatch($0) }
    candidateFilter.pass(count)
    return entries
  }

  /// For a sort key that is not the last. The records with one value, a *group*, are read and
  /// sorted. For a group of more than `SearchEffort.groupLimit` entries, the search walks the
  /// index of the next sort key.
  private mutating func walkGroups(_ reader: inout EntryReader, level: Int) throws -> Bool {
    var key = IndexKey([])
    var group: [Int64] = []
    while !reader.isAtEnd {
      let entries = try entries(of: &reader, search.effort.groupLimit + 1)
      if let large = reader.onlyKey, large.count < ValueKey.textLimit, let place = reader.position {
        if IndexKey(large) == key { group = [] }
        if try collect(&group, level: level) { return true }
        if try walkGroup(of: large, level: level) { return true }
        reader.skip(large, keyRange: place.keyRange)
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

  /// Returns whether the page is full.
  private mutating func collect(_ group: inout [Int64], level: Int) throws -> Bool {
    for number in group {
      try consider(number)
    }
    group = []
    return collector.isFull
  }

  /// Visits a large group in the order of the next sort key. `level` is that of the walk that has
  /// found the group. Returns whether the page is full.
  ///
  /// - Throws: ``WalkIsLonger`` for this level, if collecting all candidates costs less.
  private mutating func walkGroup(of key: [UInt8], level: Int) throws -> Bool {
    guard let field = search.type.field(for: keys[level].key) else { return false }
    let keyRange = FieldKeyRange(field: field.number, range: KeyRange(key))
    guard !candidateFilter.rulesOut(keyRange) else { return collector.isFull }
    // If the candidate filter already has the condition of this value, no further one is needed.
    let isNew = !candidateFilter.hasCondition(of: keyRange)
    let collecting = candidateFilter.cost(of: collector.missing, sorting: 1, mayWalk: false)
    if isNew {
      let path = AccessPath(source: .keyRanges([keyRange]))
      try candidateFilter.push(try search.condition(of: path), in: search)
    }
    shared.append(.key(key))
    defer {
      shared.removeLast()
      if isNew { candidateFilter.pop() }
    }
    if collecting.isFinite, level + 1 < keys.count {
      candidateFilter.beginWalk(along: search.indexOfPath(along: keys[level + 1].key))
      defer { candidateFilter.endWalk() }
      let cost = candidateFilter.cost(
        of: collector.missing, sorting: entryCost(level: level + 1))
      if collecting < cost { throw WalkIsLonger(level: level) }
    }
    return try walk(level: level + 1)
  }
}
