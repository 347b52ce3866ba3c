import CommandInterface
import JSONCoding

/// A table of JSON rows for people. It can be printed in parts, such as pages.
struct Table {
  /// A column of a table.
  struct Column {
    /// The heading.
    var title: String
    /// The most characters of a cell. A longer text is shortened.
    var width: Int
    /// Returns the text of a row's cell.
    var text: @Sendable (JSONValue) -> String

    /// Creates a column from a function.
    init(_ title: String, width: Int = 80, _ text: @escaping @Sendable (JSONValue) -> String) {
      self.title = title
      self.width = width
      self.text = text
    }

    /// Creates a column that shows one member of the row: a string as it is, other values as JSON.
    init(_ title: String, _ member: String, width: Int = 80) {
      self.init(title, width: width) { row in
        row[member].map { $0.string ?? $0.text } ?? ""
      }
    }
  }

  private let columns: [Column]
  /// The width of each column so far, in characters.
  private var widths: [Int]
  /// Whether the headings are printed.
  private var hasHead = false

  init(_ columns: [Column]) {
    self.columns = columns
    widths = columns.map(\.title.count)
  }

  /// Prints rows. A column becomes wider when a longer cell appears, so rows printed earlier may be
  /// narrower.
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

  /// Prints a line of cells without spaces at its end.
  private func line(_ cells: [String]) {
    var text = zip(cells, widths).map { $0.padding(to: $1) }.joined(separator: "  ")
    while text.hasSuffix(" ") { text.removeLast() }
    Output.line(text)
  }
}
