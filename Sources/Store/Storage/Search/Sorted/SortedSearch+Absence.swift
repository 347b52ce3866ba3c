extension SortedSearch {
  /// After those with a value, in the order of the next sort keys. `start` is the last record of
  /// the previous page, if it has the shared values of the walk. Returns whether the page is full.
  mutating func walkAbsent(level: Int, from start: RecordOrder.Place?) throws -> Bool {
    let key = keys[level].key
    // Every record has these times. If a filter requires a value of the field, every match has one.
    // In both cases there is nothing to visit.
    if key == .system(.createdTimestamp) || key == .system(.modifiedTimestamp) {
      return collector.isFull
    }
    let field = search.type.field(for: key)
    if let field, search.paths.contains(where: { $0.keyRanges.first?.field == field.number }) {
      return collector.isFull
    }
    let isLast = level == keys.count - 1
    if isLast, shared.isEmpty, candidateFilter.candidateCount == nil,
      try collectNext(level: level, from: start)
    {
      return true
    }
    shared.append(.absence)
    defer { shared.removeLast() }
    // To exclude the records with a value, all of them must be gathered. Reading all candidates may
    // cost less.
    if let count = candidateFilter.candidateCount,
      collectingCost(count) < candidateFilter.population
    {
      return try collectAll()
    }
    if let field {
      try candidateFilter.push(
        SearchCondition(AccessPath(field: field.number), excludes: true), in: search)
      try candidateFilter.completeLast(in: search)
    }
    defer { if field != nil { candidateFilter.pop() } }
    guard isLast else { return try walk(level: level + 1) }
    return try collectByNumber(ascending: keys[level].ascending, from: start)
  }

  /// Collects matching records without a value among the next `SearchEffort.absenceLimit` records
  /// of the database. If they do not fill the page and more records follow, they are removed
  /// again, and the result is false.
  private mutating func collectNext(level: Int, from start: RecordOrder.Place?) throws -> Bool {
    let ascending = keys[level].ascending
    let before = collector
    // If the last record of the previous page has a value, no record without a value was on an
    // earlier page.
    let number = start?.values[level] == nil ? start?.number : nil
    let rows = try search.transaction.connection.rows(
      ascending ? RecordTable.sql.after : RecordTable.sql.before,
      [
        .id(search.database), .integer(number ?? (ascending ? 0 : .max)),
        .count(search.effort.absenceLimit),
      ], StoredRecord.Row.init)
    for row in rows where search.zoneNumber == nil || row.zoneNumber == search.zoneNumber {
      guard let candidate = try search.match(row) else { continue }
      let place = order.place(of: candidate.record, number: row.number)
      guard place.values[level] == nil else { continue }
      collector.add(row, at: place)
      if collector.isFull { return true }
    }
    if rows.count < search.effort.absenceLimit { return true }
    collector = before
    return false
  }

  /// Returns whether the page is full.
  private mutating func collectByNumber(
    ascending: Bool, from start: RecordOrder.Place?
  ) throws -> Bool {
    var numbers: [Int64] = []
    if let candidates = candidateFilter.candidates {
      numbers = candidates.sorted.filter { candidateFilter.mayMatch($0) }
    } else {
      var reader = EntryReader(search.pathToAll)
      while !reader.isAtEnd {
        numbers += try entries(of: &reader, 4_096).map(\.number)
      }
      numbers.sort()
    }
    if !ascending { numbers.reverse() }
    for number in numbers {
      if collector.isFull { return true }
      if let start, start.values[keys.count - 1] == nil,
        ascending ? number <= start.number : number >= start.number
      {
        continue
      }
      try consider(number)
    }
    return collector.isFull
  }
}
