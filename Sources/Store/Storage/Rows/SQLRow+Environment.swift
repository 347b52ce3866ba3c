import CloudKitModel
import SQLEngine
import StoreModel

extension SQLRow {
  func database(_ column: Int32) -> DatabaseID { DatabaseID(rawValue: integer(column)) }
  func count(_ column: Int32) -> Int { Int(integer(column)) }
  /// The column has milliseconds since 1970.
  func time(_ column: Int32) -> Timestamp { Timestamp(milliseconds: integer(column)) }
  func optionalTime(_ column: Int32) -> Timestamp? { isNull(column) ? nil : time(column) }

  func environment(_ column: Int32) throws -> ContainerEnvironment {
    guard let environment = ContainerEnvironment(rawValue: text(column)) else {
      throw StoreError(.corrupt, "the store has the unknown environment '\(text(column))'")
    }
    return environment
  }
}

extension SQLConnection {
  /// Returns 0 without a row.
  func count(_ statement: Statement, _ arguments: [SQLValue]) throws -> Int {
    Int(try integer(statement, arguments) ?? 0)
  }
}

extension ContainerPlace {
  init(row: any SQLRow) throws {
    self.init(container: row.text(0), environment: try row.environment(1))
  }
}
