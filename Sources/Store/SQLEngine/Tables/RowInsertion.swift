/// Collects rows of one table so that one statement inserts many. Starting and ending a statement
/// is a large part of the cost of a row.
package struct RowInsertion {
  /// The statements that insert rows of one kind. Their texts are made once, since connections
  /// identify a statement by its text.
  package struct Statements {
    fileprivate let together: String
    fileprivate let one: String
    fileprivate let argumentsEach: Int

    /// - Parameters:
    ///   - head: the text up to `VALUES`.
    ///   - tail: the text after the values.
    ///   - row: the values of a row whose arguments are numbered from the given number.
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

  private static let rowsTogether = 16

  private let statements: Statements
  private var arguments = SQLArguments()
  private var count = 0

  package init(_ statements: Statements) {
    self.statements = statements
  }

  /// Adds a row, and inserts the collected rows when there are enough.
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

  /// Inserts the remaining rows.
  package mutating func finish(in connection: any SQLConnection) throws {
    while count > 0 {
      try connection.runLater(statements.one, arguments)
      arguments.removeFirst(statements.argumentsEach)
      count -= 1
    }
    arguments.removeAll()
  }
}
