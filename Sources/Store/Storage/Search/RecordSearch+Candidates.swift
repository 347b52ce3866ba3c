import CloudKitModel
import StoreModel

/// A matching record, decoded as far as the query needs it.
struct SearchCandidate {
  var row: StoredRecord.Row
  var record: Record
}

extension RecordSearch {
  /// nil if the record does not match.
  ///
  /// - Throws: ``StoreError/Code/corrupt`` if the record does not exist, on a store without a
  ///   search cache.
  func match(_ number: Int64) throws -> SearchCandidate? {
    let row = try transaction.connection.first(
      RecordTable.sql.numbered, [.id(database), .integer(number)], StoredRecord.Row.init)
    guard let row else {
      // The numbers of deleted records stay in cached lists and columns.
      if transaction.searchCache != nil { return nil }
      throw StoreError(.corrupt, "the value index names a record that does not exist")
    }
    return try match(row)
  }

  func match(_ row: StoredRecord.Row) throws -> SearchCandidate? {
    // A path of record names can lead to records of another type.
    guard row.typeNumber == type.number else { return nil }
    // Cached lists and columns contain records of all zones.
    if let zoneNumber, row.zoneNumber != zoneNumber { return nil }
    var record = Record(
      recordID: RecordID(recordName: row.recordName), recordType: type.name,
      recordChangeTag: projection.hasChangeTag
        ? transaction.context.changeTags.tag(ofVersion: row.version, in: database) : nil)
    var decoder = try RowDecoder(row.content, of: "record", named: row.recordName)
    try decoder.decode(projection, into: &record)
    guard access.reach == .all || access.mayRead(record) else { return nil }
    if let shared, try shared.membership(ofRecord: row.number) == nil { return nil }
    // A search in all text must not find words in fields without the option `searchable`.
    let seen = projection.fields == nil ? withoutHiddenText(record) : record
    for filter in query.query.filters {
      guard filter.matches(filter.key == .allText ? seen : record) else { return nil }
    }
    return SearchCandidate(row: row, record: record)
  }

  private func withoutHiddenText(_ record: Record) -> Record {
    var record = record
    for (name, field) in type.fields
    where field.type.element == .string && !field.indexes.contains(.searchable) {
      record.fields[name] = nil
    }
    return record
  }

  func records(_ rows: [StoredRecord.Row]) throws -> [Record] {
    try rows.compactMap { row in
      let stored = try RecordTable(transaction: transaction).record(row, in: database)
      guard let shared else { return stored.record }
      return try shared.seen(stored)
    }
  }

  /// Looks in the searched zones. The result is in ascending order.
  func numbers(ofRecordsNamed names: [String]) throws -> [Int64] {
    try Set(names).flatMap { name in
      try transaction.connection.integers(
        RecordTable.sql.numbersOfName, [.id(database), .text(name), .integer(zoneNumber ?? 0)])
    }.sorted()
  }

  /// The conditions that the index can check: those of ``paths`` in their order, without paths of
  /// record names; that of the searched zone; and those of negated filters.
  func conditions() throws -> [SearchCondition] {
    var conditions = try paths.filter { if case .names = $0.source { false } else { true } }
      .map { try condition(of: $0) }
    if zoneNumber != nil { conditions.append(SearchCondition(AccessPath(source: .zone))) }
    return try conditions
      + makeExcludedPaths().map { try condition(of: $0, excludes: true) }
  }

  func highestNumber() throws -> Int64 {
    try transaction.connection.integer(RecordTable.sql.highest, [.id(database)]) ?? 0
  }
}
