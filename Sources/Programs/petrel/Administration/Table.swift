import CommandInterface
import JSONCoding

/// Rows for people, in columns.
struct Table {
  struct Column {
    var title: String
    /// Characters at most; what is longer is cut.
    var width: Int
    var text: @Sendable (JSONValue) -> String

    init(_ title: String, width: Int = 80, _ text: @escaping @Sendable (JSONValue) -> String) {
      self.title = title
      self.width = width
      self.text = text
    }

    /// The member of this name.
    init(_ title: String, _ member: String, width: Int = 80) {
      self.init(title, width: width) { row in
        row[member].map { $0.string ?? $0.text } ?? ""
      }
    }
  }

  private let columns: [Column]
  private var widths: [Int]
  private var hasHead = false

  init(_ columns: [Column]) {
    self.columns = columns
    widths = columns.map(\.title.count)
  }

  /// Prints some rows. Columns are as wide as what was printed so far needs.
  mutating func print(_ rows: [JSONValue]) {
    let cells = rows.map { row in
      columns.map { $0.text(row).printable.cut(to: $0.width) }
    }
    for row in cells {
      for (index, cell) in row.enumerated() { widths[index] = max(widths[index], cell.count) }
    }
    if !hasHead, !rows.isEmpty {
      line(columns.map(\.title))
      hasHead = true
    }
    for row in cells { line(row) }
  }

  private func line(_ cells: [String]) {
    var text = zip(cells, widths).map { $0.padding(to: $1) }.joined(separator: "  ")
    while text.hasSuffix(" ") { text.removeLast() }
    Output.line(text)
  }
}
