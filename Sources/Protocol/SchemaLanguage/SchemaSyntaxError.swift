/// The error for a schema text that cannot be parsed, with the place and the reason.
public struct SchemaSyntaxError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The number of the line, from 1.
  public var line: Int
  /// The column in the line, from 1, counted in Unicode scalars.
  public var column: Int
  /// The expected and the found token, or the rule that the text breaks.
  public var reason: String

  /// Creates an error for a place in a text.
  public init(line: Int, column: Int, _ reason: String) {
    self.line = line
    self.column = column
    self.reason = reason
  }

  /// The place and the reason, such as `line 3, column 9: expected ROLE, found 'TYPE'`.
  public var description: String { "line \(line), column \(column): \(reason)" }

  /// Returns two lines: the line with the mistake, and a caret below the mistake.
  ///
  /// - Parameter text: The text that was parsed.
  /// - Returns: nil when the text has no such line.
  public func excerpt(of text: String) -> String? {
    let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
    guard lines.indices.contains(line - 1) else { return nil }
    var source = String(String.UnicodeScalarView(lines[line - 1]))
    if source.unicodeScalars.last == "\r" { source.unicodeScalars.removeLast() }
    // A tab stays a tab, so that a terminal shows the caret below the mistake.
    let indent = source.unicodeScalars.prefix(column - 1).map { $0 == "\t" ? "\t" : " " }
    return "\(source)\n\(indent.joined())^"
  }
}
