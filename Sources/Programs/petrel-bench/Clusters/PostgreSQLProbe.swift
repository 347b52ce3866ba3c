import CPostgreSQL
import CommandInterface

/// A connection to PostgreSQL that does not use the store's code. One thread at a time may use the
/// object.
final class PostgreSQLProbe {
  private let connection: OpaquePointer

  /// Connects to a server.
  ///
  /// - Parameter address: A connection string or URI in libpq's format.
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

  /// Executes a statement, and returns the values of its rows as texts; `nil` stands for `NULL`.
  ///
  /// - Throws: `UsageError` with PostgreSQL's message.
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

  /// Executes a statement, and returns the first `count` values of its first row as numbers. NaN
  /// stands for `NULL`, for a text that is no number, and for a missing row.
  func numbers(_ statement: String, count: Int) throws -> [Double] {
    let row = try rows(statement).first ?? []
    return (0..<count).map { place in
      place < row.count ? row[place].flatMap(Double.init) ?? .nan : .nan
    }
  }
}
