import CloudKitModel
import SQLEngine

extension SearchCacheEntry {
  /// The entry at a later version, which is the one that the search sees; nil when more was changed
  /// than is worth following.
  ///
  /// Every save gives its record, and its zone, a number that is greater than all before. Records that
  /// were deleted may stay: there is none to be read with their number, which is not used twice.
  func followed(
    by version: Int64, _ name: Name, along key: FieldKey, in search: RecordSearch
  ) throws -> SearchCacheEntry? {
    guard let rows = try changes(in: search) else { return nil }
    let glance = RecordGlance(
      for: Query(recordType: search.type.name, sortKeys: [SortKey(key)]))
    let changes = try rows.map { row in
      (row.number, try Self.keys(of: row, in: name.field, glance, search))
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

  /// The records of the search's type that were saved since, as they are; nil when they are too many.
  private func changes(in search: RecordSearch) throws -> [StoredRecord.Row]? {
    let zones = try ZoneTable(transaction: search.transaction).numbers(
      changedAfter: version, in: search.database)
    var changes: [StoredRecord.Row] = []
    for zone in zones {
      let patience = search.effort.changePatience - changes.count
      let rows = try RecordTable(transaction: search.transaction).rows(
        changedAfter: version, inZone: zone, of: search.database, limit: patience + 1)
      guard rows.count <= patience else { return nil }
      changes += rows
    }
    return changes.filter { $0.typeNumber == search.type.number }
  }

  /// The keys that the index has for a record in a field, or for the words of one.
  private static func keys(
    of row: StoredRecord.Row, in field: Int64, _ glance: RecordGlance, _ search: RecordSearch
  ) throws -> [[UInt8]] {
    var record = Record(recordID: RecordID(recordName: row.recordName), recordType: "")
    var decoder = try RowDecoder(row.content, of: "record", named: row.recordName)
    try decoder.decode(glance, into: &record)
    let entries = IndexEntries(
      of: record, fields: search.type.fields, hasOwner: search.address.owner != nil)
    return entries.list.filter { $0.fieldNumber == field }.map(\.key)
  }
}
