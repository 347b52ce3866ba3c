import SQLEngine

/// A type that has all SQL on some tables.
///
/// ``Schema/tables`` lists the types. Each statement is a stored property of ``sql``, or of a
/// property of it. A test therefore finds all statements by reflection, and a statement that is in
/// use is checked. The statements of a file `Type+Aspect.swift` are in a type of their own there.
/// Times are in milliseconds since 1970, in columns and as `Int64`.
protocol Table: SendableMetatype {
  associatedtype Statements: Sendable
  /// Creates the tables and their indexes, in PostgreSQL's dialect.
  static var definition: [String] { get }
  /// A join is with the table whose rows it returns.
  static var sql: Statements { get }
  var transaction: StoreTransaction { get }
}

extension Table {
  var connection: any SQLConnection { transaction.connection }
  var sql: Statements { Self.sql }

  /// See ``StoreTransaction/decide(_:_:)``.
  func decide(_ statement: Statement, _ arguments: [SQLValue]) throws {
    try transaction.decide(statement, arguments)
  }
}
