/// A collector of rows of one table. It inserts 16 rows by one statement, because starting and
/// ending a statement is a large part of the cost of inserting a row.
///
/// ```swift
/// var insertion = RowInsertion(statements)
/// for row in rows { try insertion.add(in: connection) { row.appendArguments(to: &$0) } }
/// try insertion.finish(in: connection)
/// ```
package struct RowInsertion {
  /// The statements that insert rows of one kind. Their texts are made once, since connections
  /// identify a statement by its text.
  package struct Statements {
    /// The statement that inserts 16 rows.
    fileprivate let together: String
    /// The statement that inserts one row.
    fileprivate let one: String
    /// The number of arguments of a row.
    fileprivate let argumentsEach: Int

    /// Creates the texts.
    ///
    /// - Parameters:
    ///   - head: the text up to `VALUES`.
    ///   - argumentsEach: the number of arguments of a row.
    ///   - tail: the text after the values.
    ///   - row: returns the SQL of one row's values, without parentheses. The function gets the
    ///     number of the row's first parameter.
    package init(_ head: String, argumentsEach: Int, tail: String = "", row: (Int) -> String) {
      func statement(rows: Int) -> String {
        "\(head) VALUES "
          + (0..<rows).map { "(" + row($0 * argumentsEach + 1) + ")" }.joined(separator: ", ")
          + tail
      }
      together = statement(rows: RowInsertion.rowsTogether)
      one = statement(rows: 1)
      self.argumentsEach = argumentsEach
    }
  }

  /// The number of rows that one statement inserts.
  private static let rowsTogether = 16

  private let statements: Statements
  private var arguments = SQLArguments()
  private var count = 0

  /// Creates a collector without rows.
  package init(_ statements: Statements) {
    self.statements = statements
  }

  /// Adds a row, and inserts the collected rows when there are 16. An error of the insertion may be
  /// thrown by a later statement (``SQLConnection/runLater(_:_:)``).
  package mutating func add(
    in connection: any SQLConnection, _ appendArguments: (inout SQLArguments) -> Void
  ) throws {
    appendArguments(&arguments)
    count += 1
    guard count == Self.rowsTogether else { return }
    try connection.runLater(statements.together, arguments)
    arguments.removeAll()
    count = 0
  }

  /// Inserts the remaining rows, one by one. Call it before the commit; otherwise these rows are
  /// lost.
  package mutating func finish(in connection: any SQLConnection) throws {
    while count > 0 {
      try connection.runLater(statements.one, arguments)
      arguments.removeFirst(statements.argumentsEach)
      count -= 1
    }
    arguments.removeAll()
  }
}
