import CloudKitModel

extension RecordSearch {
  /// Returns the paths of the filters, always in the same order. Each leads to all matches.
  ///
  /// A caller who may read only records of their own gets only paths to those. The length of
  /// another path depends on other users' values, and would reveal them.
  func makePaths() -> [AccessPath] {
    if access.reach == .own {
      let own = type.indexOfRecords(madeBy: query.caller.userRecordName, at: address)
      return namedPaths + (own.map { [AccessPath(source: .stretches([$0]))] } ?? [])
    }
    var paths = namedPaths
    // A record has one value of such a field, so several ranges intersect.
    var ranges: [(field: RecordTypeEntry.Field, ranges: [KeyRange], circle: AccessPath.Circle?)] =
      []
    for filter in query.query.filters where filter.key != .system(.recordName) {
      paths += tokenPaths(of: filter)
      guard let field = type.field(for: filter.key), isIndexed(field, filter.key) else { continue }
      for found in filter.keyRanges(in: field.type) {
        guard !field.type.isList else {
          paths.append(
            AccessPath(
              source: .stretches(found.map { IndexStretch(field: field.number, range: $0) }),
              hasRepeats: true))
          continue
        }
        let circle = Self.circle(of: filter)
        if let index = ranges.firstIndex(where: { $0.field.number == field.number }) {
          ranges[index].ranges = KeyRange.intersection(ranges[index].ranges, found)
          ranges[index].circle = ranges[index].circle ?? circle
        } else {
          ranges.append((field, found, circle))
        }
      }
    }
    return paths
      + ranges.map { field, ranges, circle in
        AccessPath(
          source: .stretches(ranges.map { IndexStretch(field: field.number, range: $0) }),
          circle: circle)
      }
  }

  /// The paths of filters on record names.
  private var namedPaths: [AccessPath] {
    query.query.filters.compactMap { filter in
      guard filter.key == .system(.recordName), let names = Self.names(of: filter) else {
        return nil
      }
      return AccessPath(source: .names(names))
    }
  }

  /// Returns the paths to records that cannot match, from negated filters. A caller who may read
  /// only records of their own gets none.
  func makeExcludedPaths() -> [AccessPath] {
    guard access.reach == .all else { return [] }
    return query.query.filters.compactMap { filter in
      guard let field = type.field(for: filter.key), isIndexed(field, filter.key) else {
        return nil
      }
      let ranges = filter.excludedRanges(in: field.type)
      guard !ranges.isEmpty else { return nil }
      return AccessPath(
        source: .stretches(ranges.map { IndexStretch(field: field.number, range: $0) }))
    }
  }

  /// The path to every record of the type: each has a time of creation.
  var pathToAll: AccessPath {
    let field = type.field(for: .system(.createdTimestamp))
    return AccessPath(
      source: .stretches([IndexStretch(field: field?.number ?? 0, range: .everything)]))
  }

  /// Returns the path through the values of one field; nil if the index lacks some values. If
  /// filters restrict the field, it is their path.
  func path(along key: FieldKey) -> AccessPath? {
    guard let field = type.field(for: key), isIndexed(field, key), !field.type.isList else {
      return nil
    }
    return indexOfPath(along: key).map { paths[$0] }
      ?? AccessPath(source: .stretches([IndexStretch(field: field.number, range: .everything)]))
  }

  /// Returns the index of the filter path that follows a field's values; nil if there is none.
  func indexOfPath(along key: FieldKey) -> Int? {
    guard let field = type.field(for: key) else { return nil }
    return paths.firstIndex { $0.stretches.first?.field == field.number }
  }

  /// Returns whether the index has all values of a field.
  private func isIndexed(_ field: RecordTypeEntry.Field, _ key: FieldKey) -> Bool {
    // In a database with an owner, nearly all records are the owner's, so creators are not indexed.
    if key == .system(.createdUserRecordName), address.owner != nil { return false }
    return field.indexes.usesValues && field.indexWork == nil && field.type.element != .bytes
      && field.type.element != .asset
  }

  /// Returns the circle of a filter by distance; nil for another filter.
  private static func circle(of filter: Filter) -> AccessPath.Circle? {
    guard filter.comparator == .near, case .location(let center) = filter.value,
      let radius = filter.distance
    else { return nil }
    return AccessPath.Circle(center: center, radius: radius)
  }

  /// Returns the paths of the words of a filter, one for each word that a record must have. There
  /// are none if a field has no complete index of words.
  private func tokenPaths(of filter: Filter) -> [AccessPath] {
    let fields: [RecordTypeEntry.Field]
    switch filter.key {
    case .field(let name): fields = type.fields[name].map { [$0] } ?? []
    case .allText:
      fields = type.fields.values.filter { $0.hasTokenEntries }.sorted { $0.number < $1.number }
    case .system: fields = []
    }
    guard !fields.isEmpty, fields.allSatisfy({ $0.hasTokenEntries && $0.wordIndexWork == nil })
    else {
      return []
    }
    return filter.tokenRanges.map { ranges in
      AccessPath(
        source: .stretches(
          fields.flatMap { field in
            ranges.map { IndexStretch(field: field.tokenNumber, range: $0) }
          }), hasRepeats: true)
    }
  }

  /// Returns the record names that a filter permits; nil if it does not list names.
  private static func names(of filter: Filter) -> [String]? {
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
}
