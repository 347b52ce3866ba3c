import CloudKitModel

extension SearchCacheEntry {
  /// The entry in the state of a later version; nil if too many records were saved since. Each
  /// save gives the record and its zone a number above all earlier ones, so those saved since the
  /// entry's version have higher numbers.
  ///
  /// Deleted records may stay: a search finds no record with their numbers, which are never
  /// reused.
  ///
  /// `version` is the last number that the search's transaction sees. The search is one of the
  /// record type with the field.
  func followed(
    by version: Int64, _ name: Name, along key: FieldKey, in search: RecordSearch
  ) throws -> SearchCacheEntry? {
    guard let rows = try changes(in: search) else { return nil }
    let projection = RecordProjection(
      for: Query(recordType: search.type.name, sortKeys: [SortKey(key)]))
    let changes = try rows.map { row in
      (row.number, try Self.keys(of: row, in: name.field, projection, search))
    }
    switch self {
    case .column(var column):
      column.version = version
      for (number, keys) in changes { column[number] = keys.first.map { IndexKey($0).head } }
      return .column(column)
    case .list(var list):
      list.version = version
      for (number, keys) in changes { list[number] = keys.contains { $0 == name.key } }
      return .list(list)
    }
  }

  /// Without deleted records; nil if more than `SearchEffort.changeLimit` records of all types
  /// were saved.
  private func changes(in search: RecordSearch) throws -> [StoredRecord.Row]? {
    let zones = try ZoneTable(transaction: search.transaction).numbers(
      changedAfter: version, in: search.database)
    var changes: [StoredRecord.Row] = []
    for zone in zones {
      let left = search.effort.changeLimit - changes.count
      let rows = try RecordTable(transaction: search.transaction).rows(
        changedAfter: version, inZone: zone, of: search.database, limit: left + 1)
      guard rows.count <= left else { return nil }
      changes += rows
    }
    return changes.filter { $0.typeNumber == search.type.number }
  }

  private static func keys(
    of row: StoredRecord.Row, in field: Int64, _ projection: RecordProjection,
    _ search: RecordSearch
  ) throws -> [[UInt8]] {
    var record = Record(recordID: RecordID(recordName: row.recordName), recordType: "")
    var decoder = try RowDecoder(row.content, of: "record", named: row.recordName)
    try decoder.decode(projection, into: &record)
    let entries = IndexEntries(
      of: record, fields: search.type.fields, hasOwner: search.address.owner != nil)
    return entries.list.filter { $0.fieldNumber == field }.map(\.key)
  }
}
