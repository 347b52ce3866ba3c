import CPostgreSQL

/// A row of a PostgreSQL result in binary format. One object serves all rows of a query.
final class PostgreSQLRow: SQLRow {
  /// The result, which the query frees after the visit.
  private var result: OpaquePointer
  private var row: Int32 = 0
  private let types: [Oid]

  init(columnsOf result: OpaquePointer) {
    self.result = result
    types = (0..<PQnfields(result)).map { PQftype(result, $0) }
  }

  func stand(on row: Int32, of result: OpaquePointer) {
    self.row = row
    self.result = result
  }

  func isNull(_ column: Int32) -> Bool { PQgetisnull(result, row, column) == 1 }

  /// Reads any of PostgreSQL's integer sizes; a Boolean is 0 or 1.
  func integer(_ column: Int32) -> Int64 {
    let bytes = buffer(column)
    guard !bytes.isEmpty else { return 0 }
    switch types[Int(column)] {
    case PostgreSQLArguments.ObjectID.boolean:
      return bytes[0] == 0 ? 0 : 1
    case PostgreSQLArguments.ObjectID.int2:
      return Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self)))
    case PostgreSQLArguments.ObjectID.int4:
      return Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
    case PostgreSQLArguments.ObjectID.int8:
      return Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
    default:
      // As with SQLite, other types read as 0; no statement of the store reads them as numbers.
      return 0
    }
  }

  func text(_ column: Int32) -> String { String(decoding: buffer(column), as: UTF8.self) }
  func bytes(_ column: Int32) -> [UInt8] { [UInt8](buffer(column)) }

  func buffer(_ column: Int32) -> UnsafeRawBufferPointer {
    UnsafeRawBufferPointer(
      start: PQgetvalue(result, row, column), count: Int(PQgetlength(result, row, column)))
  }
}
