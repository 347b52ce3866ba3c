/// Gathers rows of one table, so that one statement inserts many: what it takes to start and to end a
/// statement is a good part of what a row takes.
package struct RowInsertion {
  /// The statements that insert rows of one kind. Texts are made once, for connections know a
  /// statement by its text.
  package struct Statements {
    fileprivate let together: String
    fileprivate let one: String
    fileprivate let argumentsEach: Int

    /// - Parameters:
    ///   - head: all up to `VALUES`.
    ///   - tail: all after the values.
    ///   - row: the values of a row whose arguments are numbered on from the given number.
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

  /// Takes in a row, and inserts those that are there when they are enough.
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

  /// Inserts the rows that are left.
  package mutating func finish(in connection: any SQLConnection) throws {
    while count > 0 {
      try connection.runLater(statements.one, arguments)
      arguments.removeFirst(statements.argumentsEach)
      count -= 1
    }
    arguments.removeAll()
  }
}
