/// A schema text that cannot be read: where, and what would be right.
public struct SchemaSyntaxError: Error, Sendable, Hashable, CustomStringConvertible {
  /// From 1.
  public var line: Int
  /// From 1, counted in Unicode scalars.
  public var column: Int
  /// What was expected, or which rule is broken.
  public var reason: String

  public init(line: Int, column: Int, _ reason: String) {
    self.line = line
    self.column = column
    self.reason = reason
  }

  public var description: String { "line \(line), column \(column): \(reason)" }

  /// The line of the text that is meant, with a caret below the place; nil when the text is
  /// another.
  public func excerpt(of text: String) -> String? {
    let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
    guard lines.indices.contains(line - 1) else { return nil }
    var source = String(String.UnicodeScalarView(lines[line - 1]))
    if source.unicodeScalars.last == "\r" { source.unicodeScalars.removeLast() }
    // A tab stays a tab, so that the caret stands where the reader's screen has the place.
    let indent = source.unicodeScalars.prefix(column - 1).map { $0 == "\t" ? "\t" : " " }
    return "\(source)\n\(indent.joined())^"
  }
}
