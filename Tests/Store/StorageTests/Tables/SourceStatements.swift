import Foundation
import RepositoryFiles
import StoreModel

@testable import SQLEngine
@testable import Storage

/// The SQL statements in the sources of the store.
struct SourceStatement {
  var file: String
  /// On one line, with what is known of its parts put in; `?` stands for the others.
  var text: String

  /// The types whose statements do not serve a store: they create tables, move whole tables, or
  /// examine an engine.
  private static let otherPurposes = [
    "Schema", "StoreDistribution", "ServedLocation", "TableSizes", "Migration",
  ]

  /// Parts of statements that others name.
  private static let parts = [
    "DeliveryRow.selection": DeliveryRow.selection, "Self.isAvailable(to:": "TRUE",
    "StoreClock.expression": "1",
    "NotificationIndexRow.columns": NotificationIndexRow.columns,
    "DueDelivery.columns": DueDelivery.columns, "columns": "database_id",
  ]

  /// Whether this is one, and no other literal.
  var isStatement: Bool {
    text.wholeMatch(of: #/(SELECT|INSERT|UPDATE|DELETE|WITH)\b.*/#) != nil
  }

  /// All of them that serve a store.
  static func all() throws -> [SourceStatement] {
    try literals().filter { literal in
      let isOther =
        otherPurposes.contains { literal.file.hasPrefix($0) }
        && !literal.file.hasPrefix("SchemaModifier")
      return literal.isStatement && !isOther
    }
  }

  /// All string literals of the sources, on one line each.
  ///
  /// - Parameter folder: which sources, from the folder of the tests on.
  static func literals(
    in folder: String = "Sources/Store/Storage"
  ) throws -> [SourceStatement] {
    let sources = RepositoryFile.url(folder)
    let paths = FileManager.default.enumerator(atPath: sources.path)?.compactMap { $0 as? String }
    return try (paths ?? []).sorted().flatMap { path -> [SourceStatement] in
      let file = path.split(separator: "/").last.map(String.init) ?? path
      guard file.hasSuffix(".swift") else { return [] }
      return literals(
        in: try String(contentsOf: sources.appendingPathComponent(path), encoding: .utf8),
        file: file)
    }
  }

  private static func literals(in source: String, file: String) -> [SourceStatement] {
    let literal = #/"""\n(?<long>(?s:.*?))\n *"""|"(?<short>(?:[^"\\\n]|\\.)*)"/#
    return source.matches(of: literal).map { match in
      let raw = String(match.output.long ?? match.output.short ?? "")
      var text = put(partsInto: raw.replacing(#/\s+/#, with: " "))
        .trimmingCharacters(in: [" ", ";"])
      if file.hasPrefix("SubscriptionTable") {
        text = text.replacing("FROM ?", with: "FROM subscriptions")
      }
      // What a selection goes on with.
      let before = source[..<match.range.lowerBound].suffix(200)
        .trimmingCharacters(in: [" ", "\n", "+"])
      if before.hasSuffix("StoredRecord.selection") {
        text = StoredRecord.selection + " " + text
      } else if before.hasSuffix("User.selection") {
        text = "SELECT ? FROM users " + text
      }
      return SourceStatement(file: file, text: text)
    }
  }

  private static func put(partsInto text: String) -> String {
    var result = ""
    var rest = text[...]
    while let start = rest.firstRange(of: "\\(") {
      result += rest[..<start.lowerBound]
      var depth = 1
      var end = start.upperBound
      while end < rest.endIndex, depth > 0 {
        depth += rest[end] == "(" ? 1 : rest[end] == ")" ? -1 : 0
        end = rest.index(after: end)
      }
      let name = String(rest[start.upperBound..<end].dropLast())
      let part =
        parts[name] ?? parts.first { $0.key.hasSuffix(":") && name.hasPrefix($0.key) }?.value
      result += part?.replacing(#/\s+/#, with: " ") ?? "?"
      rest = rest[end...]
    }
    return result + rest
  }
}

/// Whether one node can carry out a statement, where rows lie by their database.
struct StatementRoute {
  /// A table with rows of databases, and what the statement calls it.
  struct Reference: Hashable {
    var table: String
    var alias: String
  }

  /// The tables that the statement names whose rows lie with their database.
  let references: [Reference]
  /// The references that do not name the database.
  let unrouted: [Reference]

  init(of statement: String, distributed: Set<String>) {
    let names = #/\b(?:FROM|JOIN|INTO|UPDATE) ([a-z_]+)(?: AS ([a-z_]+))?/#
    references = statement.matches(of: names).compactMap { match in
      let table = String(match.1)
      guard distributed.contains(table) else { return nil }
      return Reference(table: table, alias: match.2.map(String.init) ?? table)
    }
    var known: Set<String> = []
    var unnamed = 0
    for match in statement.matches(of: #/(?:([a-z_]+)\.)?database_id = \$\d+/#) {
      if let alias = match.1 { known.insert(String(alias)) } else { unnamed += 1 }
    }
    let ties = statement.matches(of: #/([a-z_]+)\.database_id = ([a-z_]+)\.database_id/#).map {
      (String($0.1), String($0.2))
    }
    // The rows that are inserted name their database, or take it from where they come.
    if let head = statement.firstMatch(of: #/^INSERT INTO ([a-z_]+) \(([^)]*)\)/#),
      head.2.split(separator: ",").contains(where: {
        $0.trimmingCharacters(in: [" "]) == "database_id" || $0.contains("?")
      })
    {
      known.insert(String(head.1))
    }
    var open = references
    func settle() {
      var isChanging = true
      while isChanging {
        isChanging = false
        for (one, other) in ties where known.contains(one) != known.contains(other) {
          known.formUnion([one, other])
          isChanging = true
        }
      }
      open.removeAll { known.contains($0.alias) }
    }
    settle()
    while unnamed > 0, let next = open.first {
      unnamed -= 1
      open.removeFirst()
      known.insert(next.alias)
      settle()
    }
    unrouted = open
  }
}
