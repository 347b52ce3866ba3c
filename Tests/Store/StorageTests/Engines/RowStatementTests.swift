import PostgreSQLTesting
import StoreModel
import Testing

@testable import SQLEngine
@testable import Storage

/// Tests of statements that run for many rows, and of what comes before a statement.
struct RowStatementTests {
  private static let table = "CREATE TABLE probes (a BIGINT PRIMARY KEY, b TEXT, c BYTEA, d BIGINT)"
  private static let insertion = RowStatement(
    inserting: "probes (a, b, c, d)", [.integer, .text, .bytes], constants: ["7"],
    tail: "ON CONFLICT (a) DO NOTHING")
  private static let update = RowStatement(
    "UPDATE probes SET b = $2 WHERE a = $1", [.integer, .text]
  ) { "UPDATE probes SET b = c2 FROM \($0) WHERE a = c1" }

  private func withConnections(_ body: (any SQLConnection) throws -> Void) async throws {
    let file = try SQLiteConnection(path: nil)
    try body(file)
    file.close()
    let schema = try await PostgreSQLServer.shared.makeStore()
    let connection = try PostgreSQLConnection(to: PostgreSQLAddress(schema.address))
    try body(connection)
    connection.close()
    try await PostgreSQLServer.shared.drop(schema)
  }

  @Test("every row is written, whatever their number, with nulls, empty values and any bytes")
  func rows() async throws {
    try await withConnections { connection in
      try connection.execute(connection.definition(Self.table))
      var expected: [Int64: [SQLValue]] = [:]
      var first: Int64 = 0
      for count in [1, 31, 32, 33, 1_024, 1_100] as [Int64] {
        try connection.beginWriting()
        var rows = RowInsertion(Self.insertion)
        for number in first..<first + count {
          let text: String? = number % 3 == 0 ? nil : String(repeating: "ü", count: Int(number % 5))
          let bytes: [UInt8]? =
            number % 7 == 0 ? nil : (0..<UInt8(number % 11)).map { $0 &* 41 }
          rows.add {
            $0.append(number)
            $0.append(text)
            if let bytes { $0.append(bytes: bytes.span.bytes) } else { $0.appendNull() }
          }
          expected[number] = [SQLValue(text), bytes.map { .bytes($0) } ?? .null]
        }
        // A row that is there already stays as it is.
        rows.add {
          $0.append(first)
          $0.append("late")
          $0.appendNull()
        }
        try rows.finish(in: connection)
        try connection.commit()
        first += count
      }
      var found: [Int64: [SQLValue]] = [:]
      try connection.query("SELECT a, b, c, d FROM probes", []) {
        found[$0.integer(0)] = [
          SQLValue($0.optionalText(1)), $0.isNull(2) ? .null : .bytes($0.bytes(2)),
        ]
        #expect($0.integer(3) == 7)
      }
      #expect(found == expected)

      var changes = RowInsertion(Self.update)
      for number in 0..<50 as Range<Int64> {
        changes.add {
          $0.append(2 * number)
          $0.append("changed \(number)")
        }
      }
      try connection.beginWriting()
      try changes.finish(in: connection)
      try connection.commit()
      let changed = try connection.rows("SELECT a, b FROM probes WHERE b LIKE 'changed%'", []) {
        ($0.integer(0), $0.text(1))
      }
      #expect(changed.count == 50)
      #expect(changed.allSatisfy { $0.1 == "changed \($0.0 / 2)" })
    }
  }

  @Test("a text that PostgreSQL cannot store is refused before anything is sent")
  func unkeptText() async throws {
    try await withConnections { connection in
      guard connection.kind == .postgreSQL else { return }
      try connection.execute(connection.definition(Self.table))
      var rows = RowInsertion(Self.insertion)
      for text in ["a", "b\0c"] {
        rows.add {
          $0.append(Int64(text.utf8.count))
          $0.append(text)
          $0.appendNull()
        }
      }
      try connection.beginWriting()
      let error = #expect(throws: StoreError.self) { try rows.finish(in: connection) }
      #expect(error?.code == .unkeptText)
      #expect(connection.canContinue)
      try connection.commit()
      #expect(try connection.first("SELECT 1 FROM probes", []) { _ in true } == nil)
    }
  }

  @Test("a collector returns to a mark")
  func marks() async throws {
    try await withConnections { connection in
      try connection.execute(connection.definition(Self.table))
      var rows = RowInsertion(Self.insertion)
      func add(_ number: Int64) {
        rows.add {
          $0.append(number)
          $0.append("text \(number)")
          $0.append(bytes: [UInt8(number)].span.bytes)
        }
      }
      add(1)
      let mark = rows.mark
      add(2)
      add(3)
      rows.restore(to: mark)
      add(4)
      try connection.beginWriting()
      try rows.finish(in: connection)
      try connection.commit()
      let found = try connection.rows("SELECT a, b, c FROM probes ORDER BY a", []) {
        "\($0.integer(0)) \($0.text(1)) \($0.bytes(2))"
      }
      #expect(found == ["1 text 1 [1]", "4 text 4 [4]"])
    }
  }

  @Test(
    "rows in memory are written before a statement that names their table, and forgotten by one that changes it"
  )
  func gate() async throws {
    try await withConnections { connection in
      let gate = StatementGate(tables: ["probes", "others"])
      connection.gate = gate
      try connection.execute(connection.definition(Self.table))
      try connection.execute("CREATE TABLE others (a BIGINT)")
      try connection.execute("CREATE TABLE probes_of_others (a BIGINT)")
      var events: [String] = []
      var (unwritten, decided): (StatementGate.Tables, StatementGate.Tables) = (1, 0)
      gate.rows = StatementGate.Rows(
        of: gate, unwritten: { unwritten | decided }, decided: { decided },
        write: {
          events.append("write \($0)")
          unwritten &= ~$0
          decided &= ~$0
        }, forget: { events.append("forget \($0)") })
      func taken() -> [String] {
        defer { events = [] }
        return events
      }
      try connection.beginWriting()
      let before = gate.writeCount
      _ = try connection.rows("SELECT a FROM others", []) { _ in }
      _ = try connection.rows("SELECT a FROM probes_of_others", []) { _ in }
      #expect(taken().isEmpty)
      _ = try connection.rows("SELECT a FROM others JOIN probes USING (a)", []) { _ in }
      #expect(taken() == ["write 1"])
      _ = try connection.rows("SELECT a FROM probes", []) { _ in }
      #expect(taken().isEmpty)
      #expect(gate.writeCount == before)
      try connection.run("DELETE FROM others WHERE a = $1", [1])
      #expect(taken() == ["forget 2"])
      unwritten = 3
      try connection.run("UPDATE probes SET d = 1 WHERE a IN (SELECT a FROM others)", [])
      #expect(taken() == ["write 3", "forget 3"])
      unwritten = 3
      try gate.open { try connection.runLater("DELETE FROM probes WHERE a = $1", [1]) }
      #expect(taken().isEmpty)
      #expect(gate.writeCount == before + 3)
      // Decided statements come before those that may find undecided rows.
      decided = 2
      _ = try gate.open { try connection.rows("SELECT a FROM probes", []) { _ in } }
      #expect(taken().isEmpty)
      _ = try gate.open { try connection.rows("SELECT a FROM others", []) { _ in } }
      #expect(taken() == ["write 2"])
      try connection.commit()
    }
  }
}
