import Foundation
import RepositoryFiles
import Testing

/// A table of docs/reference/access-table.md: what each cell has to come out as.
struct AccessTable {
  /// The words of the tables, and the answers that they stand for.
  static let words = [
    "ok": "200", "sign in": "421 AUTHENTICATION_REQUIRED", "refused": "401 AUTHENTICATION_FAILED",
    "denied": "403 ACCESS_DENIED", "absent": "404 NOT_FOUND", "bad": "400 BAD_REQUEST",
    "none": "200 NOT_FOUND", "no": "200 ACCESS_DENIED",
    "no zones": "400 BAD_DATABASE", "no zone": "200 ZONE_NOT_FOUND",
    "others' zones": "200 BAD_DATABASE",
    "no such zone": "404 ZONE_NOT_FOUND", "bad item": "200 BAD_REQUEST",
    "no parent": "200 VALIDATING_REFERENCE_ERROR",
    "verify": "200 PARTICIPANT_MAY_NEED_VERIFICATION",
    "invited": "200 PARTICIPANT_ALREADY_INVITED",
  ]

  /// One cell, by what stands at the head of its row and of its column.
  struct Cell: Hashable, Comparable, CustomStringConvertible {
    var row: String
    var column: String

    var description: String { "\(row) | \(column)" }

    static func < (left: Cell, right: Cell) -> Bool { left.description < right.description }
  }

  let heading: String
  /// Without the column of names.
  let columns: [String]
  let rows: [String]
  /// The expected content of each cell, in full.
  var expected: [Cell: String]

  /// Reads the table below a heading.
  ///
  /// - Parameter names: how many columns name a row.
  init(_ heading: String, names: Int = 1) throws {
    let text = try RepositoryFile.text("docs/reference/access-table.md")
    let start = try #require(text.range(of: "\n## \(heading)\n"), "\(heading)")
    let section = text[start.upperBound...].components(separatedBy: "\n## ")[0]
    let lines = section.split(separator: "\n").filter { $0.hasPrefix("|") }.map { line in
      line.dropFirst().dropLast().split(separator: "|", omittingEmptySubsequences: false).map {
        $0.trimmingCharacters(in: .whitespaces).replacing("`", with: "")
      }
    }
    try #require(lines.count > 2, "\(heading) has no rows")
    self.heading = heading
    columns = Array(lines[0].dropFirst(names))
    var rows: [String] = []
    var expected: [Cell: String] = [:]
    for line in lines.dropFirst(2) {
      try #require(line.count == lines[0].count, "\(line)")
      let row = line.prefix(names).joined(separator: " ")
      rows.append(row)
      for (column, word) in zip(columns, line.dropFirst(names)) {
        expected[Cell(row: row, column: column)] = Self.words[word] ?? word
      }
    }
    try #require(Set(rows).count == rows.count, "\(heading) has a row twice")
    self.rows = rows
    self.expected = expected
  }

  /// The cells that came out otherwise, each with how.
  func deviations(of found: [Cell: Set<String>]) -> [Cell: String] {
    var deviations: [Cell: String] = [:]
    for (cell, outcome) in expected where found[cell] != [outcome] {
      deviations[cell] = found[cell].map { $0.sorted().joined(separator: ", ") } ?? "not asked"
    }
    for (cell, outcomes) in found where expected[cell] == nil {
      deviations[cell] = outcomes.sorted().joined(separator: ", ")
    }
    return deviations
  }

  /// Reports every cell that came out otherwise.
  func check(_ found: [Cell: Set<String>], sourceLocation: SourceLocation = #_sourceLocation) {
    for (cell, outcome) in deviations(of: found).sorted(by: { $0.key < $1.key }) {
      Issue.record(
        "\(heading): \(cell): expected \(expected[cell] ?? "no such cell"), came \(outcome)",
        sourceLocation: sourceLocation)
    }
  }
}

extension Answer {
  /// Status and code, as ``AccessTable/words`` have them; an item's code where the first one failed.
  var accessOutcome: String {
    if let code = json.errorCode { return "\(status) \(code)" }
    let lists = json.object?.values.compactMap(\.array) ?? []
    if let code = lists.compactMap({ $0.first?.errorCode }).first { return "\(status) \(code)" }
    return "\(status)"
  }
}
