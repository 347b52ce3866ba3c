import CloudKitModel

/// The query entries of one record type, each filed under its most selective filter.
struct RecordTypeIndex: Sendable {
  private(set) var tables: [AccessPath: [AccessKey: Set<Int32>]] = [:]
  /// Entries with no filter that a hash table could answer.
  private(set) var scanned: Set<Int32> = []

  var isEmpty: Bool { tables.isEmpty && scanned.isEmpty }

  /// Files an entry and returns where.
  ///
  /// Of the filters that hashing can answer it takes the one with the fewest keys, and among those
  /// the one whose buckets hold the fewest entries at this moment.
  ///
  /// - Complexity: O(filters + their values)
  mutating func insert(_ slot: Int32, filters: [Filter]) -> PredicateEntry.Placement {
    let best = filters.compactMap { AccessPredicate($0) }
      .map { (predicate: $0, cost: ($0.keys.count, crowd(at: $0))) }
      .min { $0.cost < $1.cost }
    guard let access = best?.predicate else {
      scanned.insert(slot)
      return .scan
    }
    for key in access.keys {
      tables[access.path, default: [:]][key, default: []].insert(slot)
    }
    return .keys(access)
  }

  /// - Complexity: O(keys that the entry is filed under)
  mutating func remove(_ slot: Int32, from placement: PredicateEntry.Placement) {
    switch placement {
    case .keys(let access):
      for key in access.keys {
        tables[access.path]?[key]?.remove(slot)
        if tables[access.path]?[key]?.isEmpty == true { tables[access.path]?[key] = nil }
      }
      if tables[access.path]?.isEmpty == true { tables[access.path] = nil }
    case .scan:
      scanned.remove(slot)
    case .feed:
      break
    }
  }

  /// Calls `body` with each entry that `record` may pass, once each.
  ///
  /// - Complexity: O(access paths of the type + values of the record's fields on them + entries in
  ///   the buckets of those values + entries that are scanned)
  func forEachCandidate(for record: Record, _ body: (Int32) -> Void) {
    scanned.forEach(body)
    for (path, table) in tables {
      let buckets = path.keys(of: record).compactMap { table[$0] }
      if buckets.count == 1 {
        buckets[0].forEach(body)
      } else {
        // An entry with several keys may lie in several of the buckets.
        buckets.reduce(into: Set<Int32>()) { $0.formUnion($1) }.forEach(body)
      }
    }
  }

  private func crowd(at access: AccessPredicate) -> Int {
    guard let table = tables[access.path] else { return 0 }
    return access.keys.reduce(0) { $0 + (table[$1]?.count ?? 0) }
  }
}
