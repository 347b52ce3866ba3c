import CPostgreSQL
import CommandInterface

/// A connection that looks at a PostgreSQL from outside of the store.
final class PostgreSQLProbe {
  private let connection: OpaquePointer

  init(_ address: String) throws {
    guard let connection = PQconnectdb(address) else {
      throw UsageError("there is no memory for a connection")
    }
    self.connection = connection
    petrel_ignore_notices(connection)
    guard PQstatus(connection) == CONNECTION_OK else {
      throw UsageError(
        "PostgreSQL cannot be reached: \(String(cString: PQerrorMessage(connection)))")
    }
  }

  deinit { PQfinish(connection) }

  /// The rows of a statement, as texts.
  @discardableResult
  func rows(_ statement: String) throws -> [[String?]] {
    let result = PQexec(connection, statement)
    defer { PQclear(result) }
    guard [PGRES_TUPLES_OK, PGRES_COMMAND_OK].contains(PQresultStatus(result)) else {
      throw UsageError(
        "'\(statement.prefix(80))' failed: \(String(cString: PQerrorMessage(connection)))")
    }
    return (0..<PQntuples(result)).map { row in
      (0..<PQnfields(result)).map { column in
        PQgetisnull(result, row, column) == 1
          ? nil : String(cString: PQgetvalue(result, row, column))
      }
    }
  }

  /// The numbers in the first row of a statement; NaN for null, and where there is no row.
  func numbers(_ statement: String, count: Int) throws -> [Double] {
    let row = try rows(statement).first ?? []
    return (0..<count).map { place in
      place < row.count ? row[place].flatMap(Double.init) ?? .nan : .nan
    }
  }
}
