import CloudKitModel

extension RecordSearch {
  /// Paths that each lead to all matches, always in the same order, because a continuation marker
  /// has the index of a path.
  ///
  /// For a caller who may read only their own records, there are only paths of record names and
  /// the one to the caller's records. The length of another path would reveal other users' values.
  func makePaths() -> [AccessPath] {
    if access.reach == .own {
      let own = type.indexOfRecords(madeBy: query.caller.userRecordName, at: address)
      return namedPaths + (own.map { [AccessPath(source: .keyRanges([$0]))] } ?? [])
    }
    var paths = namedPaths
    // A record has one value in a field that is no list. So the ranges of several filters on one
    // field are intersected.
    var ranges: [(field: RecordTypeEntry.Field, ranges: [KeyRange], circle: AccessPath.Circle?)] =
      []
    for filter in query.query.filters where filter.key != .system(.recordName) {
      paths += tokenPaths(of: filter)
      guard let field = type.field(for: filter.key), isIndexed(field, filter.key) else { continue }
      for found in filter.keyRanges(in: field.type) {
        guard !field.type.isList else {
          paths.append(AccessPath(field: field.number, found, hasRepeats: true))
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
    return paths + ranges.map { AccessPath(field: $0.number, $1, circle: $2) }
  }

  private var namedPaths: [AccessPath] {
    query.query.filters.compactMap { filter in
      guard filter.key == .system(.recordName), let names = Self.names(of: filter) else {
        return nil
      }
      return AccessPath(source: .names(names))
    }
  }

  /// For a caller who may read only their own records, there are none.
  func makeExcludedPaths() -> [AccessPath] {
    guard access.reach == .all else { return [] }
    return query.query.filters.compactMap { filter in
      guard let field = type.field(for: filter.key), isIndexed(field, filter.key) else {
        return nil
      }
      let ranges = filter.excludedRanges(in: field.type)
      return ranges.isEmpty ? nil : AccessPath(field: field.number, ranges)
    }
  }

  var pathToAll: AccessPath {
    AccessPath(field: type.field(for: .system(.createdTimestamp))?.number ?? 0)
  }

  /// The path of the field's filters, or through all values. nil for a field with lists, or of
  /// which the index does not have all values.
  func path(along key: FieldKey) -> AccessPath? {
    guard let field = type.field(for: key), isIndexed(field, key), !field.type.isList else {
      return nil
    }
    return indexOfPath(along: key).map { paths[$0] } ?? AccessPath(field: field.number)
  }

  func indexOfPath(along key: FieldKey) -> Int? {
    guard let field = type.field(for: key) else { return nil }
    return paths.firstIndex { $0.keyRanges.first?.field == field.number }
  }

  private func isIndexed(_ field: RecordTypeEntry.Field, _ key: FieldKey) -> Bool {
    // In a database with an owner, nearly all records are the owner's, so creators are not indexed.
    if key == .system(.createdUserRecordName), address.owner != nil { return false }
    return field.indexes.usesValues && field.indexWork == nil && field.type.element != .bytes
      && field.type.element != .asset
  }

  private static func circle(of filter: Filter) -> AccessPath.Circle? {
    guard filter.comparator == .near, case .location(let center) = filter.value,
      let radius = filter.distance
    else { return nil }
    return AccessPath.Circle(center: center, radius: radius)
  }

  /// One path for each word that a record must have, or a single one for a filter that needs any
  /// of its words. None if the index of words is incomplete.
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
        source: .keyRanges(
          fields.flatMap { field in
            ranges.map { FieldKeyRange(field: field.tokenNumber, range: $0) }
          }), hasRepeats: true)
    }
  }

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
