/// A collector of the rows of one statement, which runs for some hundred rows at a time.
///
/// ```swift
/// var insertion = RowInsertion(statement)
/// for row in rows { try insertion.add(in: connection) { row.appendArguments(to: &$0) } }
/// try insertion.finish(in: connection)
/// ```
package struct RowInsertion {
  private static let (rowLimit, byteLimit) = (256, 256 << 10)

  private let statement: RowStatement
  private var arguments = SQLArguments()
  package private(set) var count = 0

  package init(_ statement: RowStatement) {
    self.statement = statement
  }

  package var byteCount: Int { arguments.memory.count }

  /// Keeps the row in memory until ``finish(in:)``, whatever its size.
  package mutating func add(_ appendArguments: (inout SQLArguments) -> Void) {
    appendArguments(&arguments)
    count += 1
  }

  /// A later call or statement may throw the statement's error (``SQLConnection/runLater(_:_:)``).
  package mutating func add(
    in connection: any SQLConnection, _ appendArguments: (inout SQLArguments) -> Void
  ) throws {
    add(appendArguments)
    if count >= Self.rowLimit || byteCount >= Self.byteLimit { try finish(in: connection) }
  }

  /// Writes the remaining rows, which are lost if the commit comes first.
  package mutating func finish(in connection: any SQLConnection) throws {
    guard count > 0 else { return }
    try connection.runLater(statement, rows: arguments)
    arguments.removeAll()
    count = 0
  }

  /// A number of rows, to which the collector can return.
  package struct Mark {
    fileprivate var count, bytes: Int
  }

  package var mark: Mark { Mark(count: count, bytes: byteCount) }

  /// Drops the rows after a mark, of which none may have been written.
  package mutating func restore(to mark: Mark) {
    arguments.removeLast(toCount: mark.count * statement.kinds.count, memoryCount: mark.bytes)
    count = mark.count
  }
}
