import Foundation
import StoreModel

/// A bulk insertion of rows into a table, in the open transaction.
package protocol RowIntake {
  /// Comes before the first row of each transaction.
  mutating func begin() throws
  /// The row is one of ``SQLTable/selection(follows:limit:)``, from a table with the same columns.
  mutating func add(_ row: any SQLRow) throws
  /// All rows are in the transaction when the call returns.
  mutating func end() throws
}

extension SQLConnection {
  package func intake(into table: SQLTable) -> any RowIntake {
    InsertingIntake(into: table, of: self)
  }
}

extension PostgreSQLConnection {
  package func intake(into table: SQLTable) -> any RowIntake {
    CopyingIntake(into: table, of: self)
  }
}

/// A bulk insertion by a prepared statement, for any engine.
struct InsertingIntake: RowIntake {
  private let connection: any SQLConnection
  private let kinds: [SQLTable.Kind]
  private var insertion: RowInsertion

  init(into table: SQLTable, of connection: any SQLConnection) {
    self.connection = connection
    kinds = table.columns.map(\.kind)
    insertion = RowInsertion(
      RowStatement(inserting: "\(table.name) (\(table.columnList))", kinds))
  }

  mutating func begin() throws {}

  mutating func add(_ row: any SQLRow) throws {
    try insertion.add(in: connection) { arguments in
      for (index, kind) in kinds.enumerated() {
        let index = Int32(index)
        switch kind {
        case _ where row.isNull(index): arguments.appendNull()
        case .integer: arguments.append(row.integer(index))
        case .text: arguments.append(text: row.buffer(index).bytes)
        case .bytes: arguments.append(bytes: row.buffer(index).bytes)
        }
      }
    }
  }

  mutating func end() throws { try insertion.finish(in: connection) }
}

/// A bulk insertion by PostgreSQL's `COPY` in its binary format (PostgreSQL's manual, `COPY`,
/// "Binary Format").
///
/// Each row is the number of its columns in two bytes, then for each column its length in four
/// bytes and its content. A length of -1 means null. A number of columns of -1 means the end.
/// Numbers are big-endian.
struct CopyingIntake: RowIntake {
  private static let signature = Array("PGCOPY\n".utf8) + [0xFF] + Array("\r\n".utf8) + [0]
  private static let piece = 64 << 10

  private let connection: PostgreSQLConnection
  private let table: SQLTable
  private let statement: String
  private var bytes: [UInt8] = []

  init(into table: SQLTable, of connection: PostgreSQLConnection) {
    self.connection = connection
    self.table = table
    statement = "COPY \(table.name) (\(table.columnList)) FROM STDIN (FORMAT binary)"
  }

  mutating func begin() throws {
    try connection.beginCopy(statement)
    // No flags and no header extension.
    bytes = Self.signature + [0, 0, 0, 0, 0, 0, 0, 0]
  }

  mutating func add(_ row: any SQLRow) throws {
    append(Int16(table.columns.count))
    for (index, column) in table.columns.enumerated() {
      let index = Int32(index)
      if row.isNull(index) {
        append(Int32(-1))
        continue
      }
      switch column.kind {
      case .integer:
        append(Int32(8))
        append(row.integer(index))
      case .text, .bytes:
        let content = row.buffer(index)
        if column.kind == .text, content.contains(0) { throw zero(in: column, of: row) }
        append(Int32(content.count))
        bytes.append(contentsOf: content)
      }
    }
    if bytes.count >= Self.piece { try put() }
  }

  mutating func end() throws {
    append(Int16(-1))
    try put()
    try connection.endCopy(statement)
  }

  private mutating func put() throws {
    try connection.putCopyData(bytes, of: statement)
    bytes.removeAll(keepingCapacity: true)
  }

  private mutating func append(_ number: some FixedWidthInteger) {
    withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
  }

  private func zero(in column: SQLTable.Column, of row: any SQLRow) -> StoreError {
    StoreError(
      .statementFailed,
      "column '\(column.name)' of table '\(table.name)' has a text with the character U+0000, which "
        + "PostgreSQL cannot store (\(table.description(of: table.key(of: row)))); delete or rename it "
        + "in the source")
  }
}
