import Foundation
import SQLEngine

@testable import Storage

/// A statement of the store, with the place of its declaration.
struct DeclaredStatement {
  /// The type that has the statement's table; nil for a deletion of the traces of users.
  var owner: (any Table.Type)?
  /// The property that has the statement, such as `DeliveryTable.claiming.lease`.
  var name: String
  var statement: Statement
  /// The text on one line.
  var text: String { statement.text.replacing(#/\s+/#, with: " ") }

  /// All statements on tables of the store.
  static let all: [DeclaredStatement] = {
    let declared = Schema.tables.flatMap { table in
      found(in: table.sql, named: "\(table)").map {
        DeclaredStatement(owner: table, name: $0.name, statement: $0.statement)
      }
    }
    let traces =
      UserTraces.databaseTables.map(\.deletion) + UserTraces.publicColumns.map(\.place.deletion)
      + UserTraces.accountColumns.map(\.deletion)
    return declared + traces.map { DeclaredStatement(name: "UserTraces", statement: $0) }
  }()

  /// The statements in the stored properties of a value.
  private static func found(
    in value: Any, named name: String
  ) -> [(name: String, statement: Statement)] {
    if let statement = value as? Statement { return [(name, statement)] }
    return Mirror(reflecting: value).children.flatMap {
      found(in: $0.value, named: name + "." + ($0.label ?? ""))
    }
  }
}

/// The tables of a statement, and whether one node can carry the statement out where rows lie by their
/// database.
struct StatementRoute {
  /// A table, and what the statement calls it.
  struct Reference: Hashable {
    var table: String
    var alias: String
  }

  /// The tables that the statement names.
  let references: [Reference]
  /// The references to distributed tables that do not name the database.
  let unrouted: [Reference]

  /// - Parameters:
  ///   - statement: the text on one line.
  ///   - distributed: the tables whose rows lie with their database.
  init(of statement: String, distributed: Set<String>) {
    let names = #/\b(?:FROM|JOIN|INTO|UPDATE) ([a-z_]+)(?: AS ([a-z_]+))?/#
    references = statement.matches(of: names).map { match in
      Reference(table: String(match.1), alias: String(match.2 ?? match.1))
    }
    var known: Set<String> = []
    var unnamed = 0
    // `c1` is a column of the arrays of a ``RowStatement`` or a ``RowQuery``.
    let values = #/(?:([a-z_]+)\.)?database_id = (?:\$\d|c\d|ANY\(\$\d)/#
    for match in statement.matches(of: values) {
      if let alias = match.1 { known.insert(String(alias)) } else { unnamed += 1 }
    }
    let ties = statement.matches(of: #/([a-z_]+)\.database_id = ([a-z_]+)\.database_id/#).map {
      (String($0.1), String($0.2))
    }
    // The rows that are inserted name their database, or take it from where they come.
    if let head = statement.firstMatch(of: #/^INSERT INTO ([a-z_]+) \(([^)]*)\)/#),
      head.2.split(separator: ",").contains(where: {
        $0.trimmingCharacters(in: [" "]) == "database_id"
      })
    {
      known.insert(String(head.1))
    }
    var open = references.filter { distributed.contains($0.table) }
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
