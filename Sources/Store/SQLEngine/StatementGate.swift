/// The gate that statements of a connection pass, because its transaction has rows in memory.
///
/// A transaction may know rows of some tables, and may have decided to change them without having
/// written the changes. A statement that names such a table must find what was decided. So the
/// connection asks the gate before each statement.
///
/// The thread of the connection uses the gate.
package final class StatementGate {
  /// A set of tables. Bit *i* stands for the table with the index *i* in ``StatementGate/tables``.
  package typealias Tables = UInt32

  /// The rows that a transaction has in memory.
  package struct Rows {
    /// The transaction, so that only its own end removes its rows from the gate.
    package var owner: ObjectIdentifier
    /// Returns the tables with unwritten changes.
    var unwritten: () -> Tables
    var write: (Tables) throws -> Void
    /// Drops the rows of tables that the next statement changes.
    var forget: (Tables) -> Void

    package init(
      of owner: AnyObject, unwritten: @escaping () -> Tables,
      write: @escaping (Tables) throws -> Void,
      forget: @escaping (Tables) -> Void
    ) {
      self.owner = ObjectIdentifier(owner)
      self.unwritten = unwritten
      self.write = write
      self.forget = forget
    }
  }

  package let tables: [String]
  /// Whether a ``RowStatement`` runs row by row, because a distributed store finds the node of a
  /// row by an argument.
  package var runsRowByRow = false
  /// The rows of the open transaction.
  package var rows: Rows?
  /// Runs before the next statement of any kind.
  package var beforeStatement: (() throws -> Void)?
  /// The statements so far that wrote.
  package private(set) var writeCount = 0
  /// The statements among them that wrote other rows than ``open(_:)`` is for.
  package private(set) var undecidedWriteCount = 0
  private var isOpen = false

  package init(tables: [String]) {
    self.tables = tables
  }

  /// Lets the statements of `body` pass although they name tables with unwritten rows: they write
  /// these rows, or the caller knows the rows.
  package func open<Value>(_ body: () throws -> Value) rethrows -> Value {
    let wasOpen = isOpen
    isOpen = true
    defer { isOpen = wasOpen }
    return try body()
  }

  package func prepare() throws {
    guard let beforeStatement else { return }
    self.beforeStatement = nil
    try beforeStatement()
  }

  func pass(_ effects: StatementEffects) throws {
    try prepare()
    if effects.writes {
      writeCount += 1
      if !isOpen { undecidedWriteCount += 1 }
    }
    guard !isOpen, effects.tables != 0, let rows else { return }
    let unwritten = effects.tables & rows.unwritten()
    if unwritten != 0 { try rows.write(unwritten) }
    if effects.writes { rows.forget(effects.tables) }
  }
}

/// The effects of a statement, as far as its text shows.
struct StatementEffects {
  let tables: StatementGate.Tables
  /// Whether the statement changes rows.
  let writes: Bool

  init(of text: String, at gate: StatementGate?) {
    var (word, words) = ([UInt8](), Set<[UInt8]>())
    for byte in Array(text.utf8) + [0] {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "_"), UInt8(ascii: "0")...UInt8(ascii: "9"):
        word.append(byte)
      default:
        words.insert(word)
        word = []
      }
    }
    writes =
      ["INSERT", "UPDATE", "DELETE"].contains { words.contains(Array($0.utf8)) }
      && !text.hasPrefix("SELECT")
    var tables: StatementGate.Tables = 0
    for (index, table) in (gate?.tables ?? []).enumerated() where words.contains(Array(table.utf8))
    {
      tables |= 1 << StatementGate.Tables(index)
    }
    self.tables = tables
  }
}
