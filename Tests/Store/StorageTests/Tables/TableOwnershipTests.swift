import Testing

/// Whether the SQL on a table stands with the table's type: the one in whose file the table is made.
struct TableOwnershipTests {
  /// Files with statements on tables of other types, and these tables; `?` stands for a table that the
  /// statement takes by its name. The list may only become shorter.
  private static let exceptions: [String: Set<String>] = [
    "StoreTransaction+NamedTables.swift": ["?"],
    // The arrays of `RowStatement`.
    "RecordTable.swift": ["?"], "DispatchTable.swift": ["?"], "DeviceTable.swift": ["?"],
    // The search.
    "EntryReader.swift": ["records"], "EntrySelection.swift": ["value_index"],
    "RecordSearch+Candidates.swift": ["records", "zones"],
    "RecordSearch+Scan.swift": ["value_index"],
  ]

  @Test("the SQL on a table stands with the table's type")
  func sources() throws {
    let literals = try SourceStatement.literals()
    let ownership = TableOwnership(of: literals)
    #expect(ownership.owners.count > 50)
    #expect(ownership.owners["role_members"] == "RoleTable")
    var found: [String: Set<String>] = [:]
    for literal in literals {
      let strangers = ownership.strangers(in: literal)
      if strangers.isEmpty { continue }
      found[literal.file, default: []].formUnion(strangers)
      let known = Self.exceptions[literal.file] ?? []
      #expect(strangers.isSubset(of: known), "\(literal.file): \(literal.text)")
    }
    for (file, tables) in Self.exceptions {
      #expect(found[file] == tables, "strike from the exceptions what \(file) does not have")
    }
  }

  @Test(
    "a statement that stands with another type is found",
    arguments: [
      ("ZoneTable.swift", "SELECT 1 FROM records JOIN zones ON TRUE", "records"),
      (
        "ZoneTable+Names.swift", "UPDATE records SET version = (SELECT MAX(version) FROM zones)",
        "records"
      ),
      (
        "ZoneTable.swift", "SELECT COUNT(*) FROM ( SELECT 1 FROM records LIMIT 2) AS few", "records"
      ),
      ("ZoneTable.swift", "SELECT (SELECT name FROM zones), version FROM records", "records"),
      ("ZoneTable.swift", "WITH some AS (SELECT 1 FROM zones) DELETE FROM records", "records"),
      ("ZoneTable.swift", "SELECT version FROM ? LIMIT 1", "?"),
      ("Store+Zones.swift", "INSERT INTO zones (name) VALUES ($1)", "zones"),
      // A part of a statement.
      ("ZoneFeed.swift", "EXISTS (SELECT 1 FROM zones JOIN records ON TRUE)", "zones"),
    ])
  func stranger(_ file: String, _ statement: String, _ table: String) {
    #expect(Self.strangers(in: statement, of: file).contains(table))
  }

  @Test(
    "a table's type may join other tables, and other files may have SQL on no table of the store",
    arguments: [
      ("ZoneTable.swift", "SELECT 1 FROM zones JOIN records ON TRUE"),
      ("ZoneTable+Names.swift", "INSERT INTO zones (name) SELECT record_name FROM records"),
      ("ZoneTable.swift", "SELECT (SELECT MAX(version) FROM records), name FROM zones"),
      ("ZoneTable.swift", "WITH some AS (UPDATE zones SET name = '') SELECT 1 FROM some"),
      ("ZoneTable.swift", "EXISTS (SELECT 1 FROM records WHERE zone_number = $1)"),
      ("ServedLocation.swift", "SELECT relname FROM pg_class"),
    ])
  func own(_ file: String, _ statement: String) {
    #expect(Self.strangers(in: statement, of: file).isEmpty)
  }

  private static func strangers(in statement: String, of file: String) -> Set<String> {
    TableOwnership(of: [
      SourceStatement(file: "ZoneTable.swift", text: "CREATE TABLE zones (name TEXT)"),
      SourceStatement(
        file: "RecordTable.swift", text: "CREATE /*unlogged*/ TABLE records (record_name TEXT)"),
    ]).strangers(in: SourceStatement(file: file, text: statement))
  }
}

/// Which type has which table.
struct TableOwnership {
  /// The types by the names of their tables.
  let owners: [String: String]

  init(of literals: [SourceStatement]) {
    var owners: [String: String] = [:]
    for literal in literals {
      let definition = #/CREATE (?:/\*unlogged\*/ )?TABLE (?:IF NOT EXISTS )?([a-z_]+) \(.*/#
      guard let table = literal.text.wholeMatch(of: definition)?.1 else { continue }
      owners[String(table)] = Self.type(of: literal.file)
    }
    self.owners = owners
  }

  /// The tables of which a literal should stand elsewhere.
  ///
  /// A statement belongs to the table that it answers or changes: the first one that it names, but for what
  /// it has in parentheses. A file that is no table's may name no table at all.
  func strangers(in literal: SourceStatement) -> Set<String> {
    let type = Self.type(of: literal.file)
    guard owners.values.contains(type) else {
      return Set(tables(in: literal.text, after: #/\b(?:FROM|JOIN|INTO|UPDATE) ([a-z_]+|\?)/#))
    }
    guard literal.isStatement else { return [] }
    let first = #/\b(?:FROM|INTO|UPDATE) ([a-z_]+|\?)/#
    let named =
      tables(in: Self.withoutParentheses(literal.text), after: first)
      + tables(in: literal.text, after: first)
    return named.first.map { owners[$0] == type ? [] : [$0] } ?? []
  }

  /// The store's tables in a text, and `?` for those whose names it takes.
  private func tables(in text: String, after word: Regex<(Substring, Substring)>) -> [String] {
    text.matches(of: word).map { String($0.1) }.filter { owners[$0] != nil || $0 == "?" }
  }

  private static func type(of file: String) -> String {
    String(file.prefix { $0 != "+" && $0 != "." })
  }

  private static func withoutParentheses(_ text: String) -> String {
    var depth = 0
    return String(
      text.filter { character in
        if character == ")" { depth -= 1 }
        defer { if character == "(" { depth += 1 } }
        return depth == 0
      })
  }
}
