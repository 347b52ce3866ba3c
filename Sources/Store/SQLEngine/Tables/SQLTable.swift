import StoreModel

/// A table as the engine's catalog describes it. The tools that copy and compare stores use this
/// description, so they work with any table.
package struct SQLTable: Equatable {
  /// The kind of a column. The raw values are stored in keys (``CanonicalRow``), so they must not
  /// change.
  package enum Kind: UInt8, Equatable {
    case integer = 1
    case text = 2
    case bytes = 3

    /// Returns nil for a type that stores do not use. Case does not matter.
    package init?(engineName name: String) {
      switch name.uppercased() {
      case "BIGINT": self = .integer
      case "TEXT": self = .text
      case "BYTEA": self = .bytes
      default: return nil
      }
    }
  }

  /// A column of the table.
  package struct Column: Equatable {
    package var name: String
    /// Any column may also be null.
    package var kind: Kind
  }

  package var name: String
  /// The columns of the primary key in its order, then the others by name.
  package var columns: [Column]
  package var keyCount: Int

  package var key: ArraySlice<Column> { columns.prefix(keyCount) }

  var columnList: String { columns.map(\.name).joined(separator: ", ") }

  /// Selects all rows in the order of the primary key.
  ///
  /// - Parameter follows: whether to select only rows after a key, whose values are then the
  ///   arguments `$1`, `$2`, ….
  package func selection(follows: Bool = false, limit: Int? = nil) -> Statement {
    let keyList = key.map(\.name).joined(separator: ", ")
    var statement = "SELECT \(columnList) FROM \(name)"
    if follows {
      let parameters = (1...keyCount).map { "$\($0)" }.joined(separator: ", ")
      statement += " WHERE (\(keyList)) > (\(parameters))"
    }
    statement += " ORDER BY \(keyList)"
    if let limit { statement += " LIMIT \(limit)" }
    return Statement(statement)
  }

  package func key(of row: any SQLRow) -> [SQLValue] {
    key.enumerated().map { index, column in
      let index = Int32(index)
      return switch column.kind {
      case .integer: .integer(row.integer(index))
      case .text: .text(row.text(index))
      case .bytes: .bytes(row.bytes(index))
      }
    }
  }

  /// A text for a person, such as `database_id 3, record_name 'a'`.
  package func description(of key: [SQLValue]) -> String {
    zip(self.key, key).map { column, value in
      let text =
        switch value {
        case .null: "null"
        case .integer(let integer): "\(integer)"
        case .text(let text): "'\(text)'"
        case .bytes(let bytes): "x'\(bytes.hexadecimal)'"
        }
      return "\(column.name) \(text)"
    }.joined(separator: ", ")
  }
}

// MARK: The catalog

extension SQLTable {
  /// Sorted; also of tables that Petrel did not create.
  package static func names(_ connection: any SQLConnection) throws -> [String] {
    let statement: Statement =
      connection.kind == .postgreSQL
      ? """
      SELECT table_name::text FROM information_schema.tables
      WHERE table_schema = current_schema() AND table_type = 'BASE TABLE'
      """
      : """
      SELECT name FROM sqlite_master
      WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
      """
    return try connection.rows(statement, []) { $0.text(0) }.sorted()
  }

  /// - Throws: ``StoreError/Code/cannotOpen`` if the table has no primary key, or a column of a
  ///   type that stores do not use.
  package init(named name: String, in connection: any SQLConnection) throws {
    let isPostgreSQL = connection.kind == .postgreSQL
    var types: [String: Kind] = [:]
    let columns = try connection.rows(
      isPostgreSQL
        ? """
        SELECT column_name::text, data_type::text FROM information_schema.columns
        WHERE table_schema = current_schema() AND table_name = $1
        """ : "SELECT name, type FROM pragma_table_info($1)", [.text(name)]
    ) { ($0.text(0), $0.text(1)) }
    for (column, type) in columns {
      guard let kind = Kind(engineName: type) else {
        throw StoreError(
          .cannotOpen,
          "column '\(column)' of table '\(name)' has type \(type), which no Petrel store has")
      }
      types[column] = kind
    }
    let key = try Self.primaryKey(ofTable: name, in: connection)
    guard !key.isEmpty else {
      throw StoreError(.cannotOpen, "table '\(name)' has no primary key, so it cannot be moved")
    }
    let others = types.keys.filter { !key.contains($0) }.sorted()
    self.init(
      name: name,
      columns: (key + others).compactMap { name in
        types[name].map { Column(name: name, kind: $0) }
      }, keyCount: key.count)
  }

  /// Returns the columns in the key's order; none if the table has no primary key.
  package static func primaryKey(
    ofTable name: String, in connection: any SQLConnection
  ) throws -> [String] {
    try connection.rows(
      connection.kind == .postgreSQL
        ? """
        SELECT key_column_usage.column_name::text
        FROM information_schema.table_constraints
        JOIN information_schema.key_column_usage
          ON key_column_usage.constraint_schema = table_constraints.constraint_schema
          AND key_column_usage.constraint_name = table_constraints.constraint_name
          AND key_column_usage.table_name = table_constraints.table_name
        WHERE constraint_type = 'PRIMARY KEY'
          AND table_constraints.table_schema = current_schema()
          AND table_constraints.table_name = $1
        ORDER BY key_column_usage.ordinal_position
        """ : "SELECT name FROM pragma_table_info($1) WHERE pk > 0 ORDER BY pk", [.text(name)]
    ) { $0.text(0) }
  }
}
