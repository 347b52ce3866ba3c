/// A statement that runs once for each of many rows of arguments.
///
/// SQLite runs it row by row, or some rows at a time. PostgreSQL runs it once for all rows: each
/// argument is then an array with the values of one column.
///
/// ```swift
/// let insertion = RowStatement(
///   inserting: "zones (database_id, zone_number, version)", [.integer, .integer, .integer])
/// ```
package struct RowStatement: Sendable {
  package let kinds: [SQLTable.Kind]
  let one: Statement
  /// For ``rowsTogether`` rows, whose arguments follow each other; nil if it takes one row.
  let several: Statement?
  let all: Statement

  /// The start and the end of a statement cost a third as much as a row.
  static let rowsTogether = 32

  /// - Parameters:
  ///   - place: the table with its columns, such as `zones (database_id, zone_number)`.
  ///   - constants: the values of the columns after these, which are the same in each row.
  ///   - tail: the text after the values, such as `ON CONFLICT … DO NOTHING`.
  package init(
    inserting place: String, _ kinds: [SQLTable.Kind], constants: [String] = [], tail: String = ""
  ) {
    let head = "INSERT INTO \(place) "
    func values(ofRow row: Int) -> String {
      let first = row * kinds.count + 1
      return "("
        + ((first..<first + kinds.count).map { "$\($0)" } + constants)
        .joined(separator: ", ") + ")"
    }
    func statement(ofRows count: Int) -> String {
      head + "VALUES " + (0..<count).map(values).joined(separator: ", ") + " " + tail
    }
    let columns = (1...kinds.count).map { "c\($0)" } + constants
    self.init(
      Statement(statement(ofRows: 1)), kinds,
      several: Statement(statement(ofRows: Self.rowsTogether), .onSQLite)
    ) { head + "SELECT \(columns.joined(separator: ", ")) FROM \($0) " + tail }
  }

  package init(deletingFrom table: String, by key: KeyValuePairs<String, SQLTable.Kind>) {
    func conditions(_ value: (_ number: Int, _ kind: SQLTable.Kind) -> String) -> String {
      key.enumerated().map { "\($1.key) = \(value($0 + 1, $1.value))" }.joined(separator: " AND ")
    }
    self.init(
      Statement("DELETE FROM \(table) WHERE " + conditions { number, _ in "$\(number)" }),
      key.map(\.value)
    ) {
      "DELETE FROM \(table) USING \($0) WHERE "
        + conditions { number, kind in "c\(number)" + (kind == .text ? " COLLATE \"C\"" : "") }
    }
  }

  /// `all` makes PostgreSQL's statement from the table of the arguments (``rows(of:)``).
  package init(
    _ one: Statement, _ kinds: [SQLTable.Kind], several: Statement? = nil,
    all: (_ rows: String) -> String
  ) {
    self.kinds = kinds
    self.one = one
    self.several = several
    self.all = Statement(all(Self.rows(of: kinds)), .onPostgreSQL)
  }

  /// PostgreSQL's table of the arrays `$1`, `$2`, …, with the columns `c1`, `c2`, ….
  static func rows(of kinds: [SQLTable.Kind]) -> String {
    let arrays = kinds.enumerated().map { "$\($0 + 1)::\($1.arrayName)" }
    let names = kinds.indices.map { "c\($0 + 1)" }
    return "unnest(\(arrays.joined(separator: ", "))) AS rows (\(names.joined(separator: ", ")))"
  }
}

extension SQLTable.Kind {
  fileprivate var arrayName: String {
    switch self {
    case .integer: "bigint[]"
    case .text: "text[]"
    case .bytes: "bytea[]"
    }
  }
}
