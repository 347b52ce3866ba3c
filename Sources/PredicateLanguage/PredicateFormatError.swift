/// That a predicate format does not follow the grammar, and where.
///
/// ```
/// cannot parse the predicate format: expected a value after '==', found the end
///   price ==
///           ^
/// ```
package struct PredicateFormatError: Error, Equatable, CustomStringConvertible {
  package var format: String
  /// Where the fault is, in Unicode scalars from the start of the format.
  package var offset: Int
  package var reason: String

  package init(format: String, offset: Int, reason: String) {
    self.format = format
    self.offset = offset
    self.reason = reason
  }

  package var description: String {
    var line = String.UnicodeScalarView()
    var column = 0
    for (index, scalar) in format.unicodeScalars.enumerated() {
      if scalar == "\n" || scalar == "\r" {
        if index >= offset { break }
        line = String.UnicodeScalarView()
        column = 0
        continue
      }
      line.append(scalar)
      if index < offset { column = String(line).count }
    }
    return """
      cannot parse the predicate format: \(reason)
        \(String(line))
        \(String(repeating: " ", count: column))^
      """
  }
}
