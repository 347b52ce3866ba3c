import CloudKitModel

// The entries of the search cache are *columns* and *lists* (``SearchCacheEntry``).
extension RecordSearch {
  func ranking() throws -> CandidateRanking? {
    let sortKeys = query.query.sortKeys
    guard let first = sortKeys.first, let column = try column(along: first.key) else { return nil }
    var ranking = CandidateRanking(by: first, column)
    if let second = sortKeys.dropFirst().first, ranking.mayGoOn,
      let column = try self.column(along: second.key)
    {
      ranking.goOn(by: second, column)
    }
    return ranking
  }

  /// The condition with the cached column of the path's field, or else the lists of its ranges.
  func condition(of path: AccessPath, excludes: Bool = false) throws -> SearchCondition {
    let column = try key(of: path).flatMap { try self.column(along: $0) }
    var lists: [Int: RecordNumberSet] = [:]
    if column == nil {
      for (index, keyRange) in path.keyRanges.enumerated() {
        guard let name = listName(of: keyRange, on: path), let key = key(ofField: keyRange.field)
        else { continue }
        lists[index] = try entry(name, along: key)?.list?.numbers
      }
    }
    return SearchCondition(path, excludes: excludes, column: column, lists: lists)
  }

  /// Reports what this search has spent because entries are missing, and requests the entries for
  /// which all searches together have spent enough.
  ///
  /// - Parameter effort: what columns of sort keys and paths would have saved, in index entries,
  ///   without the costs of the conditions.
  func reportMissingEntries(spending effort: Double, conditions: [SearchCondition]) throws {
    guard let cache = transaction.searchCache else { return }
    let conditions = conditions.filter { $0.spent >= Double(self.effort.listThreshold) }
    if effort <= 0, conditions.isEmpty { return }
    let worth = self.effort.columnShare * Double(try highestNumber())
    if effort > 0 {
      let keys = query.query.sortKeys.prefix(2).map(\.key) + paths.compactMap { key(of: $0) }
      for name in Set(keys.compactMap { columnName(along: $0) }) {
        want(name, spending: effort, worth: worth, from: cache)
      }
    }
    for condition in conditions {
      let path = condition.unlistedPath
      if let name = key(of: path).flatMap({ columnName(along: $0) }) {
        want(name, spending: condition.spent, worth: worth, from: cache)
        continue
      }
      let names = path.keyRanges.compactMap { listName(of: $0, on: path) }
      for name in names {
        want(
          name, spending: condition.spent / Double(names.count),
          worth: worth / Self.columnPerList, from: cache)
      }
    }
  }

  private static let columnPerList = 8.0
  private static let listedRanges = 8

  /// Reports a cost. At a sum of `worth`, the thread that fills the cache is asked for the entry.
  /// Costs are in index entries.
  private func want(
    _ name: SearchCacheEntry.Name, spending effort: Double, worth: Double, from cache: SearchCache
  ) {
    cache.note(effort, withoutEntry: name)
    if !self.effort.fillsCache, cache.isWorthMaking(name, for: worth) {
      transaction.fillSearchCache?(name)
    }
  }

  private func key(of path: AccessPath) -> FieldKey? {
    path.keyRanges.first.flatMap { key(ofField: $0.field) }
  }

  private func key(ofField number: Int64) -> FieldKey? {
    guard
      let name = type.fields.first(where: {
        $0.value.number == number || $0.value.tokenNumber == number
      })?.key
    else { return nil }
    return SystemField.allCases.first { $0.schemaName == name }.map { .system($0) } ?? .field(name)
  }

  /// nil for a field that cannot have a column: keys must have eight bytes, and all must be in the
  /// index.
  private func columnName(along key: FieldKey) -> SearchCacheEntry.Name? {
    guard path(along: key) != nil, let field = type.field(for: key) else { return nil }
    switch field.type.element {
    case .int64, .double, .timestamp, .location:
      return SearchCacheEntry.Name(database: database, field: field.number)
    case .string, .reference, .bytes, .asset:
      return nil
    }
  }

  private func listName(of keyRange: FieldKeyRange, on path: AccessPath) -> SearchCacheEntry.Name? {
    guard path.keyRanges.count <= Self.listedRanges, keyRange.range.lower == keyRange.range.upper
    else { return nil }
    return SearchCacheEntry.Name(
      database: database, field: keyRange.field, key: keyRange.range.lower)
  }

  private func column(along key: FieldKey) throws -> KeyColumn? {
    guard let name = columnName(along: key) else { return nil }
    let isKnown = transaction.searchCache?.entry(name) != nil
    guard isKnown || !query.query.sortKeys.isEmpty else { return nil }
    return try entry(name, along: key)?.column
  }

  /// The entry in the state of this transaction; nil if it is missing, newer, or too old. An older
  /// entry is updated with the records that were saved since. If there are too many, it is removed
  /// from the cache.
  private func entry(_ name: SearchCacheEntry.Name, along key: FieldKey) throws -> SearchCacheEntry?
  {
    guard let cache = transaction.searchCache else { return nil }
    guard let entry = cache.entry(name) else {
      return effort.fillsCache ? try fillSearchCache(name, on: cache) : nil
    }
    guard let version = try DatabaseTable(transaction: transaction).lastNumber(drawnIn: database)
    else {
      return nil
    }
    // A newer entry has changes that this transaction must not see.
    guard entry.version < version else { return entry.version == version ? entry : nil }
    guard let entry = try entry.followed(by: version, name, along: key, in: self) else {
      cache.giveUp(name)
      return nil
    }
    cache.keep(entry, as: name)
    return entry
  }

  /// Serves tests that do not wait for another thread.
  private func fillSearchCache(
    _ name: SearchCacheEntry.Name, on cache: SearchCache
  ) throws -> SearchCacheEntry? {
    guard cache.isWorthMaking(name, for: effort.columnShare * Double(try highestNumber())) else {
      return nil
    }
    let entry = try SearchCacheEntry(reading: name, upTo: cache.limit, in: transaction)
    cache.receive(entry, as: name)
    return entry
  }
}
