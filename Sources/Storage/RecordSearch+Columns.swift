import CloudKitModel

// Columns of keys for the search's order and its conditions.
extension RecordSearch {
  /// The order of candidates as far as columns tell it; nil when there is none for the first key.
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

  /// The column of the field whose values a path goes through, when it is there.
  func column(of path: AccessPath) throws -> KeyColumn? {
    try key(of: path).flatMap { try column(along: $0) }
  }

  /// Notes that the search has spent so much for want of the columns that it does not have.
  func noteWant(spending effort: Double) {
    guard let shelf = session.columns else { return }
    let keys = query.query.sortKeys.prefix(2).map(\.key) + paths.compactMap { key(of: $0) }
    for name in Set(keys.compactMap { columnName(along: $0) }) {
      shelf.note(effort, forWantOf: name)
    }
  }

  /// The field whose values a path goes through.
  private func key(of path: AccessPath) -> FieldKey? {
    guard let number = path.stretches.first?.field,
      let name = type.fields.first(where: { $0.value.number == number })?.key
    else { return nil }
    return SystemField.allCases.first { $0.schemaName == name }.map { .system($0) } ?? .field(name)
  }

  /// The name of the column of a field whose keys are eight bytes and all in the index.
  private func columnName(along key: FieldKey) -> ColumnShelf.Name? {
    guard path(along: key) != nil, let field = type.field(for: key) else { return nil }
    switch field.type.element {
    case .int64, .double, .timestamp, .location:
      return ColumnShelf.Name(database: database, field: field.number)
    case .string, .reference, .bytes, .asset:
      return nil
    }
  }

  /// A column as this search's transaction sees the records. One that is not there is made when there
  /// is an order and it is wanted enough.
  private func column(along key: FieldKey) throws -> KeyColumn? {
    guard let shelf = session.columns, let name = columnName(along: key) else { return nil }
    let known = shelf.column(name)
    guard known != nil || !query.query.sortKeys.isEmpty else { return nil }
    let version = try session.connection.first(
      "SELECT last_number FROM databases WHERE database_id = $1", [.integer(database.rawValue)]
    ) { $0.integer(0) }
    guard let version else { return nil }
    guard let column = known else {
      let worth = effort.columnShare * Double(try highestNumber())
      guard shelf.isWanted(name, for: worth) else { return nil }
      return try makeColumn(name, version: version, on: shelf)
    }
    // One that is newer than this transaction is of no use to it.
    guard column.version < version else { return column.version == version ? column : nil }
    guard let column = try column.followed(by: version, along: key, in: self) else {
      shelf.giveUp(name)
      return nil
    }
    shelf.keep(column, as: name)
    return column
  }

  /// A column of all entries; nil when it would be larger than the memory for all.
  private func makeColumn(
    _ name: ColumnShelf.Name, version: Int64, on shelf: ColumnShelf
  ) throws -> KeyColumn? {
    struct ColumnIsTooLarge: Error {}
    var column = KeyColumn(version: version)
    do {
      try session.connection.query(
        """
        SELECT record_number, value_key FROM value_index
        WHERE database_id = $1 AND field_number = $2
        """, [.integer(database.rawValue), .integer(name.field)]
      ) { row in
        column[row.integer(0)] = row.key(1).head
        if column.size > shelf.limit { throw ColumnIsTooLarge() }
      }
    } catch is ColumnIsTooLarge {
      shelf.giveUp(name)
      return nil
    }
    shelf.keep(column, as: name)
    return column
  }
}

extension KeyColumn {
  /// The column at a later version, which is the one that the search sees; nil when more was changed
  /// than is worth following.
  ///
  /// Every save gives its record, and its zone, a number that is greater than all before. What was
  /// deleted may stay: no search has it among its candidates, and no number is used twice.
  fileprivate func followed(
    by version: Int64, along key: FieldKey, in search: RecordSearch
  ) throws -> KeyColumn? {
    let connection = search.session.connection
    let database = SQLValue.integer(search.database.rawValue)
    let zones = try connection.rows(
      "SELECT zone_number FROM zones WHERE database_id = $1 AND version > $2",
      [database, .integer(self.version)]
    ) { $0.integer(0) }
    let glance = RecordGlance(
      for: Query(recordType: search.type.name, sortKeys: [SortKey(key)]))
    var column = self
    var patience = search.effort.changePatience
    for zone in zones {
      let rows = try connection.rows(
        StoredRecord.selection
          + """
           WHERE database_id = $1 AND zone_number = $2 AND version > $3
          ORDER BY version LIMIT $4
          """,
        [database, .integer(zone), .integer(self.version), .integer(Int64(patience) + 1)],
        StoredRecord.Row.init)
      guard rows.count <= patience else { return nil }
      patience -= rows.count
      for row in rows where row.typeNumber == search.type.number {
        column[row.number] = try Self.key(of: row, along: key, glance)
      }
    }
    column.version = version
    return column
  }

  private static func key(
    of row: StoredRecord.Row, along key: FieldKey, _ glance: RecordGlance
  ) throws -> UInt64? {
    var record = Record(recordID: RecordID(recordName: row.recordName), recordType: "")
    var decoder = try RowDecoder(row.content, of: "record", named: row.recordName)
    try decoder.decode(glance, into: &record)
    if case .field(let name) = key, record.encryptedFields.contains(name) { return nil }
    return record.value(for: key).flatMap { ValueKey.key(of: $0) }.map { IndexKey($0).head }
  }
}
