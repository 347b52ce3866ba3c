/// The error for a predicate format that does not follow the grammar. It shows the place with a
/// caret.
///
/// ```
/// cannot parse the predicate format: expected a value after '==', found the end
///   price ==
///           ^
/// ```
package struct PredicateFormatError: Error, Equatable, CustomStringConvertible {
  package var format: String
  /// The place of the mistake, in Unicode scalars from the start of the format.
  package var offset: Int
  package var reason: String

  package init(format: String, offset: Int, reason: String) {
    self.format = format
    self.offset = offset
    self.reason = reason
  }

  package var description: String {
    let scalars = format.unicodeScalars
    let fault = scalars.index(scalars.startIndex, offsetBy: offset, limitedBy: scalars.endIndex)
    let place = fault ?? scalars.endIndex
    let isBreak: (Unicode.Scalar) -> Bool = { $0 == "\n" || $0 == "\r" }
    let start = scalars[..<place].lastIndex(where: isBreak).map(scalars.index(after:))
    let before = String(scalars[(start ?? scalars.startIndex)..<place])
    let after = String(scalars[place...].prefix { !isBreak($0) })
    return """
      cannot parse the predicate format: \(reason)
        \(before)\(after)
        \(String(repeating: " ", count: before.count))^
      """
  }
}
