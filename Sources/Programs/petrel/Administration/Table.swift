import CommandInterface
import JSONCoding

/// A table of JSON rows for people. It can be made in parts, such as pages.
struct Table {
  /// A column of a table.
  struct Column: Sendable {
    var title: String
    /// The most characters of a cell. A longer text is shortened.
    var width: Int
    var text: @Sendable (JSONValue) -> String

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

    /// Creates a column that shows a time, which is a member of the row.
    init(_ title: String, time member: String) {
      self.init(title) { $0.time(member) ?? "" }
    }

    /// Creates a column that shows the first of these members that is a text.
    init(_ title: String, anyOf members: [String], else fallback: String = "") {
      self.init(title) { row in
        members.lazy.compactMap { row[$0]?.string }.first ?? fallback
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

  static func lines(_ columns: [Column], _ rows: [JSONValue]) -> [String] {
    var table = Table(columns)
    return table.lines(rows)
  }

  /// Returns the lines of the next rows. A column becomes wider when a longer cell appears, so
  /// earlier rows may be narrower.
  mutating func lines(_ rows: [JSONValue]) -> [String] {
    let cells = rows.map { row in
      columns.map { $0.text(row).printable.cut(to: $0.width) }
    }
    for row in cells {
      for (index, cell) in row.enumerated() { widths[index] = max(widths[index], cell.count) }
    }
    let head = hasHead || rows.isEmpty ? [] : [columns.map(\.title)]
    hasHead = hasHead || !rows.isEmpty
    return (head + cells).map { row in
      var text = zip(row, widths).map { $0.padding(to: $1) }.joined(separator: "  ")
      while text.hasSuffix(" ") { text.removeLast() }
      return text
    }
  }
}
