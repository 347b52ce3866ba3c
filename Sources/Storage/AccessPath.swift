import CloudKitModel

/// A way to the records that may match a query.
struct AccessPath {
  enum Source {
    /// The value index of one field, range after range.
    case ranges(field: RecordTypeEntry.Field, [KeyRange])
    /// The records of these names, in the order of their numbers.
    case names([String])
  }

  /// Where the search stands.
  struct Position {
    var range: Int
    var key: [UInt8]
    var number: Int64
  }

  /// The index of the filter that it comes from; nil when it leads to every record of the type.
  var filter: Int?
  var source: Source
}

extension RecordSearch {
  /// Index entries that are counted at most to compare filters.
  static let probeLimit = 1_024

  /// The path that a filter opens, or that to every record of the type.
  func accessPath(through filter: Int?) -> AccessPath {
    guard let filter, let path = usablePath(through: filter) else {
      // Every record has a time of creation.
      let created = type.field(for: .system(.createdTimestamp))
      let field = created ?? RecordTypeEntry.Field(number: 0, type: FieldType(.timestamp))
      return AccessPath(filter: nil, source: .ranges(field: field, [.everything]))
    }
    return path
  }

  /// The path with the fewest index entries, counted up to ``probeLimit``; with the count, which is
  /// the limit for the path to all.
  func cheapestPath() throws -> (path: AccessPath, count: Int) {
    var best = (path: accessPath(through: nil), count: Self.probeLimit)
    let paths = query.query.filters.indices.compactMap { usablePath(through: $0) }
    for path in paths {
      // With nothing to choose from, and no order to weigh against, counting is for nothing.
      if paths.count == 1, query.query.sortKeys.isEmpty { return (path, 0) }
      let count = try probe(path)
      if count < best.count || best.path.filter == nil { best = (path, count) }
    }
    return best
  }

  private func usablePath(through index: Int) -> AccessPath? {
    let filter = query.query.filters[index]
    if filter.key == .system(.recordName) {
      return names(of: filter).map { AccessPath(filter: index, source: .names($0)) }
    }
    guard let field = type.field(for: filter.key), hasIndex(filter.key),
      let ranges = filter.keyRanges(in: field.type)
    else { return nil }
    return AccessPath(filter: index, source: .ranges(field: field, ranges))
  }

  /// The creator is not indexed where nearly everything is created by the owner.
  private func hasIndex(_ key: FieldKey) -> Bool {
    key != .system(.createdUserRecordName) || address.owner == nil
  }

  private func names(of filter: Filter) -> [String]? {
    guard filter.options.isEmpty else { return nil }
    switch (filter.comparator, filter.value) {
    case (.equals, .string(let name)): return [name]
    case (.equals, .reference(let reference)): return [reference.recordName]
    case (.isIn, .list(_, let values)):
      return values.compactMap {
        switch $0 {
        case .string(let name): name
        case .reference(let reference): reference.recordName
        default: nil
        }
      }
    default: return nil
    }
  }

  private func probe(_ path: AccessPath) throws -> Int {
    guard case .ranges(let field, let ranges) = path.source else { return 0 }
    var count = 0
    for range in ranges where count < Self.probeLimit {
      let found = try session.connection.first(
        """
        SELECT COUNT(*) FROM (
          SELECT 1 FROM value_index WHERE database_id = $1 AND field_number = $2
            AND value_key >= $3 AND value_key <= $4 LIMIT $5) AS probe
        """,
        [
          .integer(database.rawValue), .integer(field.number), .bytes(range.lower),
          .bytes(range.upper), .integer(Int64(Self.probeLimit - count)),
        ]
      ) { Int($0.integer(0)) }
      count += found ?? 0
    }
    return count
  }
}
