/// The gate that statements of a connection pass, because its transaction has rows in memory.
///
/// A transaction may know rows of some tables, and may have decided to change them, or to run
/// statements, without having written anything. A statement that names such a table must find what
/// was decided. So the connection asks the gate before each statement.
///
/// The thread of the connection uses the gate.
package final class StatementGate {
  /// A set of tables. Bit *i* stands for the table with the index *i* in ``StatementGate/tables``.
  package typealias Tables = UInt128

  /// The rows and statements that a transaction has in memory.
  package struct Rows {
    /// The transaction, so that only its own end removes its rows from the gate.
    package var owner: ObjectIdentifier
    /// Returns the tables with unwritten changes, with those of ``decided``.
    var unwritten: () -> Tables
    /// Returns the tables that decided statements name.
    var decided: () -> Tables
    var write: (Tables) throws -> Void
    /// Drops the rows of tables that the next statement changes.
    var forget: (Tables) -> Void

    package init(
      of owner: AnyObject, unwritten: @escaping () -> Tables, decided: @escaping () -> Tables,
      write: @escaping (Tables) throws -> Void,
      forget: @escaping (Tables) -> Void
    ) {
      self.owner = ObjectIdentifier(owner)
      self.unwritten = unwritten
      self.decided = decided
      self.write = write
      self.forget = forget
    }
  }

  private let bits: [[UInt8]: Tables]
  private var knownEffects: [String: StatementEffects] = [:]
  /// Whether a ``RowStatement`` runs row by row, because a distributed store finds the node of a
  /// row by an argument.
  package var runsRowByRow = false
  package var rows: Rows?
  package var beforeStatement: (() throws -> Void)?
  package private(set) var writeCount = 0
  private var isOpen = false

  /// - Parameter tables: at most 128.
  package init(tables: [String]) {
    bits = Dictionary(
      tables.enumerated().map { (Array($1.utf8), 1 << Tables($0)) }, uniquingKeysWith: { $1 })
  }

  package func tables(named names: [String]) -> Tables {
    names.reduce(0) { $0 | (bits[Array($1.utf8)] ?? 0) }
  }

  package func effects(of text: String) -> StatementEffects {
    if let known = knownEffects[text] { return known }
    let effects = StatementEffects(of: text, among: bits)
    knownEffects[text] = effects
    return effects
  }

  /// Lets the statements of `body` pass although they name tables with unwritten rows, which the
  /// caller knows. Decided statements on the tables are run first.
  package func open<Value>(_ body: () throws -> Value) rethrows -> Value {
    let wasOpen = isOpen
    isOpen = true
    defer { isOpen = wasOpen }
    return try body()
  }

  /// Counts rows as written that were decided on, also if they needed no statement: a row that was
  /// added and removed again.
  package func countWrite() { writeCount += 1 }

  package func prepare() throws {
    guard let beforeStatement else { return }
    self.beforeStatement = nil
    try apart(beforeStatement)
  }

  /// Lets the statements of `body` pass without a look at what was decided: they write it, or it does
  /// not concern them.
  package func apart<Value>(_ body: () throws -> Value) rethrows -> Value {
    let rows = rows
    self.rows = nil
    defer { self.rows = rows }
    return try body()
  }

  /// - Parameter known: the effects of the text, as far as a former call found them.
  func pass(_ text: String, _ known: inout StatementEffects?) throws {
    let effects = known ?? effects(of: text)
    known = effects
    try prepare()
    if effects.writes { writeCount += 1 }
    guard effects.tables != 0, let rows else { return }
    let unwritten = effects.tables & (isOpen ? rows.decided() : rows.unwritten())
    if unwritten != 0 { try rows.write(unwritten) }
    if !isOpen, effects.writes { rows.forget(effects.tables) }
  }
}

/// The effects of a statement, as far as its text shows.
package struct StatementEffects {
  package let tables: StatementGate.Tables
  package let writes: Bool

  init(of text: String, among bits: [[UInt8]: StatementGate.Tables]) {
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
    tables = words.reduce(0) { $0 | (bits[$1] ?? 0) }
  }
}
