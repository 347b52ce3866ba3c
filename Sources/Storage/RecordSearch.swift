import CloudKitModel

/// One page of a query.
struct RecordSearch {
  let query: RecordQuery
  let database: DatabaseID
  let address: DatabaseAddress
  let session: StoreSession
  let type: RecordTypeEntry
  /// The zone to search; nil for all.
  let zoneNumber: Int64?
  let continuation: QueryContinuation?

  /// nil when nothing can match: the schema does not know the type, or a field that must have a
  /// value.
  init?(
    _ query: RecordQuery, in database: DatabaseID, at address: DatabaseAddress,
    session: StoreSession
  ) throws {
    self.query = query
    self.database = database
    self.address = address
    self.session = session
    zoneNumber = try query.zoneID.map { zoneID in
      guard let number = try session.zoneNumber(of: zoneID, in: database) else {
        throw ItemFailure(.zoneNotFound, field: "zoneID", "there is no zone '\(zoneID)'")
      }
      return number
    }
    continuation = try query.continuation.map { try QueryContinuation($0, for: query) }
    guard let type = try session.recordType(named: query.query.recordType, at: address)
    else { return nil }
    self.type = type
    for filter in query.query.filters {
      guard try Self.check(filter, against: type, session: session) else { return nil }
    }
    for sortKey in query.query.sortKeys {
      try Self.check(sortKey, against: type, session: session)
    }
  }

  func run() throws -> RecordPage {
    query.query.sortKeys.isEmpty ? try unsortedPage() : try sortedPage()
  }

  /// False when no record can pass: the filter needs a value of a field that nobody ever saved.
  private static func check(
    _ filter: Filter, against type: RecordTypeEntry, session: StoreSession
  ) throws -> Bool {
    let fieldType: FieldType
    switch filter.key {
    case .allText:
      return true
    case .field(let name):
      guard let field = try session.field(name, of: type) else {
        return filter.value == nil || filter.comparator.negated != nil
      }
      try checkIsPlain(field, name)
      fieldType = field.type
    case .system(let system):
      // Names of records and users may be given as references.
      if system.type == .string, filter.value?.type.element == .reference { return true }
      fieldType = FieldType(system.type)
    }
    do {
      try filter.validate(against: fieldType)
    } catch {
      throw ItemFailure(error)
    }
    return true
  }

  private static func checkIsPlain(_ field: RecordTypeEntry.Field, _ name: String) throws {
    guard field.isEncrypted else { return }
    throw ItemFailure(
      .invalid, field: name,
      "field '\(name)' is encrypted: nothing can be searched or sorted by it")
  }

  private static func check(
    _ sortKey: SortKey, against type: RecordTypeEntry, session: StoreSession
  ) throws {
    let fieldType: FieldType
    switch sortKey.key {
    case .allText: return
    case .system(let system): fieldType = FieldType(system.type)
    case .field(let name):
      guard let field = try session.field(name, of: type) else { return }
      try checkIsPlain(field, name)
      fieldType = field.type
    }
    let isFit =
      sortKey.relativeLocation == nil
      ? fieldType.element.isOrdered && !fieldType.isList : fieldType == FieldType(.location)
    guard !isFit else { return }
    throw ItemFailure(
      .invalid, field: sortKey.key.description,
      sortKey.relativeLocation == nil
        ? "'\(sortKey.key)' is of type \(fieldType), which has no order; sort by a string, a number "
          + "or a timestamp"
        : "'\(sortKey.key)' is of type \(fieldType); only a location can be sorted by distance")
  }

  // MARK: Pages

  private func unsortedPage() throws -> RecordPage {
    var path: AccessPath
    var start: AccessPath.Position?
    switch continuation {
    case .scan(let filter, let range, let key, let number):
      path = accessPath(through: filter)
      start = AccessPath.Position(range: range, key: key, number: number)
    case .sorted:
      throw StoreError(.badContinuation, "the continuation marker is that of a sorted query")
    case nil:
      path = try cheapestPath().path
    }
    var records: [Record] = []
    var last: AccessPath.Position?
    var hasMore = false
    try visitCandidates(of: path, after: start) { position, stored in
      if records.count == query.limit {
        hasMore = true
        return false
      }
      records.append(stored.record)
      last = position
      return true
    }
    guard hasMore, let last else { return RecordPage(records: records, continuation: nil) }
    let end = QueryContinuation.scan(
      filter: path.filter, range: last.range, key: last.key, number: last.number)
    return RecordPage(records: records, continuation: end.text(for: query))
  }

  private func sortedPage() throws -> RecordPage {
    var collector = RecordCollector(
      order: RecordOrder(sortKeys: query.query.sortKeys), limit: query.limit)
    switch continuation {
    case .sorted(let place): collector.start = place
    case .scan: throw StoreError(.badContinuation, "the continuation marker is of another query")
    case nil: break
    }
    let (path, count) = try cheapestPath()
    if count >= Self.probeLimit, let field = walkableSortField {
      try walk(field, into: &collector)
    } else {
      try visitCandidates(of: path, after: nil) { _, stored in
        collector.add(stored)
        return true
      }
    }
    let (records, end) = collector.page()
    return RecordPage(
      records: records,
      continuation: end.map { QueryContinuation.sorted($0).text(for: query) })
  }
}
