import CloudKitModel

extension RecordSearch {
  /// Visits the records on the path that match the query, each once, until `visit` returns false.
  func visitCandidates(
    of path: AccessPath, after start: AccessPath.Position?,
    _ visit: (AccessPath.Position, StoredRecord) throws -> Bool
  ) throws {
    switch path.source {
    case .names(let names):
      for stored in try records(named: names) where query.query.matches(stored.record) {
        if let start, stored.number <= start.number { continue }
        let position = AccessPath.Position(range: 0, key: [], number: stored.number)
        guard try visit(position, stored) else { return }
      }
    case .ranges(let field, let ranges):
      for (index, range) in ranges.enumerated() where index >= start?.range ?? 0 {
        var after = start.flatMap { $0.range == index ? ($0.key, $0.number) : nil }
        var size = 64
        while true {
          let entries = try self.entries(of: field, in: range, after: after, limit: size)
          for entry in entries where isMatch(entry) {
            let isFirst = isFirst(
              entry, range: index, of: ranges, path: path, fieldType: field.type)
            guard isFirst else { continue }
            let position = AccessPath.Position(
              range: index, key: entry.key, number: entry.stored.number)
            guard try visit(position, entry.stored) else { return }
          }
          guard entries.count == size, let last = entries.last else { break }
          after = (last.key, last.stored.number)
          size = min(size * 2, 512)
        }
      }
    }
  }

  /// An index entry with its record.
  struct Entry {
    var key: [UInt8]
    var stored: StoredRecord
  }

  private func isMatch(_ entry: Entry) -> Bool { query.query.matches(entry.stored.record) }

  /// Whether a record's entry is the first of its entries in the ranges: a list can have several.
  private func isFirst(
    _ entry: Entry, range index: Int, of ranges: [KeyRange], path: AccessPath,
    fieldType: FieldType
  ) -> Bool {
    guard fieldType.isList || ranges.count > 1, let filter = path.filter,
      let value = entry.stored.record.value(for: query.query.filters[filter].key)
    else { return true }
    let keys = ValueKey.keys(of: value)
    for earlier in ranges[..<index] where keys.contains(where: { earlier.contains($0) }) {
      return false
    }
    return keys.first { ranges[index].contains($0) } == entry.key
  }

  /// Entries of a range in ascending order after a place, with their records in the query's zone.
  func entries(
    of field: RecordTypeEntry.Field, in range: KeyRange, after: ([UInt8], Int64)?, limit: Int
  ) throws -> [Entry] {
    let (key, number) = after ?? (range.lower, -1)
    return try session.connection.rows(
      Self.entrySelection
        + " AND (value_key, value_index.record_number) > ($3, $4) AND value_key <= $5"
        + " AND ($6 = 0 OR value_index.zone_number = $6)"
        + " ORDER BY value_key, value_index.record_number LIMIT $7",
      entryArguments(of: field, key, number, range.upper, limit), Self.entryRow
    ).map(entry)
  }

  /// Entries of a field in descending order before a place.
  func entriesDescending(
    of field: RecordTypeEntry.Field, before: ([UInt8], Int64)?, limit: Int
  ) throws -> [Entry] {
    let (key, number) = before ?? (ValueKey.greatest, 0)
    return try session.connection.rows(
      Self.entrySelection
        + " AND (value_key, value_index.record_number) < ($3, $4) AND value_key >= $5"
        + " AND ($6 = 0 OR value_index.zone_number = $6)"
        + " ORDER BY value_key DESC, value_index.record_number DESC LIMIT $7",
      entryArguments(of: field, key, number, [], limit), Self.entryRow
    ).map(entry)
  }

  private static let entrySelection = """
    SELECT \(StoredRecord.columns), value_key FROM value_index
    JOIN records ON records.database_id = value_index.database_id
      AND records.record_number = value_index.record_number
    WHERE value_index.database_id = $1 AND value_index.field_number = $2
    """

  private func entryArguments(
    of field: RecordTypeEntry.Field, _ key: [UInt8], _ number: Int64, _ end: [UInt8], _ limit: Int
  ) -> [SQLValue] {
    [
      .integer(database.rawValue), .integer(field.number), .bytes(key), .integer(number),
      .bytes(end), .integer(zoneNumber ?? 0), .integer(Int64(limit)),
    ]
  }

  private static func entryRow(_ row: any SQLRow) -> ([UInt8], StoredRecord.Row) {
    (row.bytes(6), StoredRecord.Row(row))
  }

  private func entry(_ key: [UInt8], _ row: StoredRecord.Row) throws -> Entry {
    Entry(key: key, stored: try session.storedRecord(row, in: database))
  }

  private func records(named names: [String]) throws -> [StoredRecord] {
    try Set(names).flatMap { name in
      try session.connection.rows(
        """
        SELECT \(StoredRecord.columns) FROM zones
        JOIN records ON records.database_id = zones.database_id
          AND records.zone_number = zones.zone_number AND records.record_name = $2
        WHERE zones.database_id = $1 AND ($3 = 0 OR zones.zone_number = $3)
        """, [.integer(database.rawValue), .text(name), .integer(zoneNumber ?? 0)],
        StoredRecord.Row.init
      ).map { try session.storedRecord($0, in: database) }
    }.sorted { $0.number < $1.number }
  }
}
