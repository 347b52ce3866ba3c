import CloudKitModel

// The use of the search cache by a search. An entry of the cache is a *column* (the keys of one
// field, by record numbers) or a *list* (the numbers of the records with one key); see
// ``SearchCacheEntry``.
extension RecordSearch {
  /// Returns the order of candidates by the cached columns of the first two sort keys; nil if the
  /// first sort key has no cached column.
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

  /// Returns the condition that a path gives (``SearchCondition``), with the cached entries for it:
  /// the column of its field, or without a column the lists of its ranges.
  ///
  /// - Parameter excludes: true if the records on the path cannot match; false if only they can.
  func condition(of path: AccessPath, excludes: Bool = false) throws -> SearchCondition {
    let column = try key(of: path).flatMap { try self.column(along: $0) }
    var lists: [Int: RecordNumberSet] = [:]
    if column == nil {
      for (index, stretch) in path.stretches.enumerated() {
        guard let name = listName(of: stretch, on: path), let key = key(ofField: stretch.field)
        else { continue }
        lists[index] = try entry(name, along: key)?.list?.numbers
      }
    }
    return SearchCondition(path, excludes: excludes, column: column, lists: lists)
  }

  /// Reports to the cache how much this search has spent because entries are missing. Then it
  /// requests the entries for which all searches together have spent enough.
  ///
  /// - Parameters:
  ///   - effort: the cost, in index entries, that columns of the sort keys and paths would have
  ///     saved; 0 or less for none. The costs of the conditions are not included.
  ///   - conditions: the conditions of the search, which know what they have spent.
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
      let names = path.stretches.compactMap { listName(of: $0, on: path) }
      for name in names {
        want(
          name, spending: condition.spent / Double(names.count),
          worth: worth / Self.columnPerList, from: cache)
      }
    }
  }

  /// The cost of making and keeping a column, as a multiple of the cost of a list.
  private static let columnPerList = 8.0
  /// The most ranges of a path for which lists are used.
  private static let listedStretches = 8

  /// Reports a cost to a missing entry. If the sum of the reported costs has reached `worth`, the
  /// method requests the entry from the thread that fills the cache.
  ///
  /// - Parameters:
  ///   - name: the name of the missing entry.
  ///   - effort: the cost in index entries.
  ///   - worth: the sum of costs from which on the entry is made, in index entries.
  ///   - cache: the search cache.
  private func want(
    _ name: SearchCacheEntry.Name, spending effort: Double, worth: Double, from cache: SearchCache
  ) {
    cache.note(effort, withoutEntry: name)
    if !self.effort.fillsCache, cache.isWorthMaking(name, for: worth) {
      transaction.fillSearchCache?(name)
    }
  }

  /// Returns the field whose values or words are on a path; nil for a path without ranges.
  private func key(of path: AccessPath) -> FieldKey? {
    path.stretches.first.flatMap { key(ofField: $0.field) }
  }

  /// Returns the field with this number in the value index, or whose words have this number; nil if
  /// the type has no such field.
  private func key(ofField number: Int64) -> FieldKey? {
    guard
      let name = type.fields.first(where: {
        $0.value.number == number || $0.value.tokenNumber == number
      })?.key
    else { return nil }
    return SystemField.allCases.first { $0.schemaName == name }.map { .system($0) } ?? .field(name)
  }

  /// Returns the name that the column of a field has in the cache. The result is nil for a field
  /// that cannot have a column: its keys must be eight bytes long, and all of them must be in the
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

  /// Returns the name that the list of a range has in the cache. The result is nil for a range of
  /// several keys, and on a path with more than `listedStretches` ranges.
  private func listName(of stretch: IndexStretch, on path: AccessPath) -> SearchCacheEntry.Name? {
    guard path.stretches.count <= Self.listedStretches, stretch.range.lower == stretch.range.upper
    else { return nil }
    return SearchCacheEntry.Name(database: database, field: stretch.field, key: stretch.range.lower)
  }

  /// Returns the cached column of a field; nil if there is none. For a query without sort keys, the
  /// method never makes a missing column.
  private func column(along key: FieldKey) throws -> KeyColumn? {
    guard let name = columnName(along: key) else { return nil }
    let isKnown = transaction.searchCache?.entry(name) != nil
    guard isKnown || !query.query.sortKeys.isEmpty else { return nil }
    return try entry(name, along: key)?.column
  }

  /// Returns an entry with the state of the index that this search's transaction sees. The result
  /// is nil if the entry is missing, newer than that state, or too old.
  ///
  /// An older entry is updated with the records that were saved since. If there are too many of
  /// these, the method removes the entry from the cache.
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

  /// Makes an entry in this transaction, for tests that do not wait for another thread.
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
