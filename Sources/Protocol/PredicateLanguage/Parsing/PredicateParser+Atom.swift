internal import CloudKitModel

/// The grammar of the smallest expressions:
///
/// ```
/// atom = number | string | argument | "{" [ expression { "," expression } ] "}"
///      | "(" expression ")" | "NULL" | "NIL" | "TRUE" | "YES" | "FALSE" | "NO" | "SELF"
///      | name "(" [ expression { "," expression } ] ")" | "$" name | name
/// ```
extension PredicateParser {
  mutating func atom() throws(PredicateFormatError) -> PredicateTerm {
    let token = token
    switch token.kind {
    case .number(let text):
      return try number(text)
    case .string(let text):
      advance()
      return .value(.string(text))
    case .variable(let name):
      advance()
      return .variable(name)
    case .argument(let letter):
      return try argument(letter)
    case .escapedIdentifier(let name):
      advance()
      return .keyPath([name])
    case .identifier(let name):
      return try named(name)
    case .symbol("{"):
      advance()
      return .aggregate(try list(until: "}"))
    case .symbol("("):
      advance()
      let inner = try expression()
      try expect(symbol: ")")
      return inner
    default:
      throw failure("expected a key or a value, found \(token.description)")
    }
  }

  /// Parses a keyword, a function call or a key that begins with `name`. A name before `(` is a
  /// function. `TRUE` and `FALSE` are the integers 1 and 0, because CloudKit has no booleans.
  private mutating func named(_ name: String) throws(PredicateFormatError) -> PredicateTerm {
    let keyword = name.uppercased()
    if tokens[min(position + 1, tokens.count - 1)].isSymbol("(") { return try function(name) }
    switch keyword {
    case "NULL", "NIL":
      advance()
      return .null
    case "TRUE", "YES":
      advance()
      return .value(.int64(1))
    case "FALSE", "NO":
      advance()
      return .value(.int64(0))
    case "SELF":
      advance()
      return .selfObject
    case _ where PredicateToken.reservedWords.contains(keyword):
      throw failure("expected a key or a value, found the keyword '\(name)'")
    case _ where PredicateToken.isSelector(name):
      throw failure("expected '(' after the function's name '\(name)'")
    default:
      advance()
      return .keyPath([name])
    }
  }

  /// Each name is accepted; the lowering refuses unknown functions.
  private mutating func function(
    _ name: String
  ) throws(PredicateFormatError) -> PredicateTerm {
    let keyword = name.uppercased()
    if PredicateToken.reservedWords.contains(keyword),
      !["CAST", "FUNCTION", "SUBQUERY"].contains(keyword)
    {
      throw failure("expected a key or a value, found the keyword '\(name)'")
    }
    advance()
    advance()
    if keyword == "SUBQUERY" { return try subquery() }
    let arguments = try list(until: ")")
    if keyword == "CAST" { return PredicateCast.folded(arguments) }
    return .function(name, arguments)
  }

  /// Parses the rest of `SUBQUERY(list, $variable, condition)` after the opening parenthesis.
  /// CloudKit cannot search with it, but the tree keeps it.
  private mutating func subquery() throws(PredicateFormatError) -> PredicateTerm {
    let list = try expression()
    try expect(symbol: ",")
    guard case .variable(let variable) = token.kind else {
      throw failure("expected a variable such as '$x', found \(token.description)")
    }
    advance()
    try expect(symbol: ",")
    let condition = try nested { (parser) throws(PredicateFormatError) in try parser.predicate() }
    try expect(symbol: ")")
    return .subquery(of: list, variable: variable, condition)
  }

  private mutating func list(
    until end: String
  ) throws(PredicateFormatError) -> [PredicateTerm] {
    var elements: [PredicateTerm] = []
    if skip(symbol: end) { return elements }
    repeat { elements.append(try expression()) } while skip(symbol: ",")
    guard skip(symbol: end) else {
      throw failure("expected ',' or '\(end)', found \(token.description)")
    }
    return elements
  }
}
