/// A collector of the rows of one statement, which runs for some hundred rows at a time.
///
/// ```swift
/// var insertion = RowInsertion(statement)
/// for row in rows { try insertion.add(in: connection) { row.appendArguments(to: &$0) } }
/// try insertion.finish(in: connection)
/// ```
package struct RowInsertion {
  /// The number of rows, and the size of their texts and bytes, at which ``add(in:_:)`` writes them.
  private static let (rowLimit, byteLimit) = (256, 256 << 10)

  private let statement: RowStatement
  private var arguments = SQLArguments()
  /// The number of rows that are not written.
  package private(set) var count = 0

  /// Creates a collector without rows.
  package init(_ statement: RowStatement) {
    self.statement = statement
  }

  /// The size of the texts and bytes of the rows.
  package var byteCount: Int { arguments.memory.count }

  /// Adds a row. It is in memory until ``finish(in:)``, whatever its size.
  package mutating func add(_ appendArguments: (inout SQLArguments) -> Void) {
    appendArguments(&arguments)
    count += 1
  }

  /// Adds a row, and writes the rows if there are many. An error of the statement may be thrown by a
  /// later call, or by a later statement (``SQLConnection/runLater(_:_:)``).
  package mutating func add(
    in connection: any SQLConnection, _ appendArguments: (inout SQLArguments) -> Void
  ) throws {
    add(appendArguments)
    if count >= Self.rowLimit || byteCount >= Self.byteLimit { try finish(in: connection) }
  }

  /// Writes the remaining rows. Call it before the commit; otherwise these rows are lost.
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

  /// The present number of rows.
  package var mark: Mark { Mark(count: count, bytes: byteCount) }

  /// Drops the rows after a mark. None may have been written meanwhile.
  package mutating func restore(to mark: Mark) {
    arguments.removeLast(toCount: mark.count * statement.kinds.count, memoryCount: mark.bytes)
    count = mark.count
  }
}
