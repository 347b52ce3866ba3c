import CloudKitModel

extension SortedSearch {
  /// Visits the records of a walk in the order of a field's values, ascending or descending as the
  /// sort key says.
  ///
  /// - Parameters:
  ///   - path: the path through the field's values.
  ///   - level: the index of the sort key.
  ///   - start: the place of the last record of the previous page, if it has the shared values of
  ///     the walk; otherwise nil.
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
      // The index does not sort texts with the same truncated key, nor records with one value by
      // the next sort key. So the records with the last key are visited again, and the collector
      // skips those of earlier pages.
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

  /// Returns the index of the range that contains a key, or of the first range after the key; nil
  /// if there is none. Ranges are counted in the order of reading.
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

  /// Visits the records of a walk by the last sort key. Records with one value come in the order of
  /// their numbers, as in the index.
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

  /// Reads the next `limit` entries of a walk, and returns those of records that the complete
  /// conditions do not exclude.
  mutating func entries(of reader: inout EntryReader, _ limit: Int) throws -> [IndexEntryPlace] {
    let filter = sieve
    let (entries, count) = try reader.entries(limit, in: search) { filter.mayMatch($0) }
    sieve.pass(count)
    return entries
  }

  /// Visits the records of a walk by a sort key that is not the last one. A *group* is the records
  /// with one value.
  ///
  /// The records of a small group are read and sorted. If a group has more than
  /// `SearchEffort.groupLimit` entries, the search walks the index of the next sort key for this
  /// group.
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

  /// Reads the records of a group, adds the matching ones to the collector, and empties the group.
  /// The collector sorts them.
  ///
  /// - Returns: whether the page is full.
  private mutating func collect(_ group: inout [Int64], level: Int) throws -> Bool {
    for number in group {
      try consider(number)
    }
    group = []
    return collector.isFull
  }

  /// Visits the records of a large group by a walk in the order of the next sort key.
  ///
  /// - Parameters:
  ///   - key: the key of the group's value.
  ///   - level: the level of the walk that has found the group.
  /// - Returns: whether the page is full.
  ///
  /// - Throws: ``WalkIsLonger`` for this level, if collecting all candidates costs less than the
  ///   walk through this group.
  private mutating func walkGroup(of key: [UInt8], level: Int) throws -> Bool {
    guard let field = search.type.field(for: keys[level].key) else { return false }
    let stretch = IndexStretch(field: field.number, range: KeyRange(key))
    guard !sieve.rulesOut(stretch) else { return collector.isFull }
    // If the sieve already has the condition of this value, no further one is needed.
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
