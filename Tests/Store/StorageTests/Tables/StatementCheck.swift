import Synchronization
import Testing

@testable import SQLEngine
@testable import Storage

/// A look at the statements that an engine was given while a test ran, with their whole texts.
///
/// ``SourceStatement`` reads statements out of the sources, those that no test runs among them. This look
/// shows that it misses none that is run, and applies the rules to what was really asked.
struct StatementCheck {
  /// The text of the statement.
  let text: String
  /// How it goes about it, as `EXPLAIN QUERY PLAN` says.
  let plan: [String]

  private static let seen = Mutex<Set<String>>([])

  /// Looks at the statements that are prepared in a store in memory, whose one connection has all.
  static func look(at store: Store) async throws {
    let distributed = try await StatementRouteTests.distributedTables()
    let statements =
      try await store.transactions.write { transaction in
        guard let connection = transaction.connection as? SQLiteConnection else { return [] }
        return try connection.statementTexts.compactMap {
          try StatementCheck(of: $0, over: connection)
        }
      } as [StatementCheck]
    for statement in statements {
      if statement.isAmong(testStatements) { continue }
      guard statement.isAmong(productStatements) else {
        Issue.record("no source was found of: \(statement.text)")
        continue
      }
      if statement.readsWholeTable || StatementRouteTests.isKnown(statement.text) { continue }
      let route = StatementRoute(of: statement.text, distributed: distributed)
      #expect(route.unrouted.isEmpty, "names no database: \(statement.text)")
      let scanned = statement.scannedTables.intersection(distributed)
      #expect(scanned.isEmpty, "walks all of a table: \(statement.text)")
    }
  }

  /// Has a statement of a test not looked at.
  static func passOver(_ statement: String) {
    seen.withLock { _ = $0.insert(line(statement)) }
  }

  private static func line(_ statement: String) -> String {
    statement.replacing(#/\s+/#, with: " ").trimmingCharacters(in: [" "])
  }

  /// Nil for what is no statement on tables, or was looked at before.
  private init?(of text: String, over connection: SQLiteConnection) throws {
    let line = Self.line(text)
    guard SourceStatement(file: "", text: line).isStatement,
      Self.seen.withLock({ $0.insert(line).inserted })
    else { return nil }
    let count = text.matches(of: #/\$(\d+)/#).compactMap { Int($0.1) }.max() ?? 0
    self.text = line
    plan = try connection.rows(
      "EXPLAIN QUERY PLAN " + text, [SQLValue](repeating: .integer(0), count: count)
    ) { $0.text(3) }
  }

  private func isAmong(_ patterns: [Pattern]) -> Bool {
    patterns.contains { text.wholeMatch(of: $0.regex) != nil }
  }

  /// Whether it is how tests compare stores, and tools move them.
  private var readsWholeTable: Bool {
    text.wholeMatch(of: #/SELECT [a-z_, ]+ FROM [a-z_]+ ORDER BY [a-z_, ]+/#) != nil
  }

  private var scannedTables: Set<String> {
    Set(
      plan.compactMap { step in
        step.prefixMatch(of: #/SCAN (\w+)/#).map { String($0.1) }
      })
  }

  /// The regular expression of a statement with unknown parts.
  ///
  /// Unchecked: a regular expression does not change, but is not declared to be sendable.
  struct Pattern: @unchecked Sendable {
    let regex: Regex<AnyRegexOutput>

    init(_ text: String) throws {
      // A table that the statement takes by its name; any other part.
      let escaped = text.replacing(#/[\\^$.|*+()\[\]{}]/#) { "\\" + $0.output }
        .replacing(#/\b(FROM|INTO|UPDATE|JOIN) \?/#) { "\($0.1) [a-z_]+" }
        .replacing("?", with: ".*")
      // The rest is added to it: conditions, or as many rows as there are.
      let isBeginning = text.firstMatch(of: #/(VALUES|WHERE|AND|IN|IN \()$/#) != nil
      regex = try Regex(isBeginning ? escaped + ".*" : escaped)
    }
  }

  // Without the sources nothing would be found to be listed.
  private static let productStatements: [Pattern] = {
    let statements = ((try? SourceStatement.all()) ?? []).map(\.text)
    // `RowInsertion` makes this of the names of a table and its columns.
    return (statements + ["INSERT INTO ? (?) VALUES"]).compactMap { try? Pattern($0) }
  }()

  /// The statements with which tests examine a store, as far as their whole texts are known, and
  /// those of `SQLTable`, which compares and moves stores.
  private static let testStatements: [Pattern] = {
    let literals = (try? SourceStatement.literals(in: "Tests/Store/StorageTests")) ?? []
    let statements = literals.filter { $0.isStatement && !$0.text.contains("?") }.map(\.text)
    return (statements + ["DELETE FROM schema_version"]).compactMap { try? Pattern($0) }
  }()
}
