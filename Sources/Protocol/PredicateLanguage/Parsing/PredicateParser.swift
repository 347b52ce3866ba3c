internal import CloudKitModel

/// Reads Foundation's predicate format: a recursive descent over its words.
///
/// ```
/// predicate   = conjunction { ("OR" | "||") conjunction }
/// conjunction = negation { ("AND" | "&&") negation }
/// negation    = ("NOT" | "!") negation | primary
/// primary     = "TRUEPREDICATE" | "FALSEPREDICATE" | "(" predicate ")" | comparison
/// ```
///
/// Keywords may be in any case. Comparisons and expressions are in files of their own.
package struct PredicateParser {
  /// The deepest nesting that is read, so that no format can exhaust the stack.
  package static let maximumDepth = 100

  let format: String
  let tokens: [PredicateToken]
  var position = 0
  var depth = 0
  var arguments: ArraySlice<PredicateArgument>

  /// The tree that `format` describes, with `arguments` put in for `%@`, `%K` and the like.
  /// Arguments beyond those are ignored.
  package static func parse(
    _ format: String, arguments: [PredicateArgument] = []
  ) throws(PredicateFormatError) -> PredicateNode {
    var parser = PredicateParser(
      format: format, tokens: try PredicateTokenizer.tokens(of: format), arguments: arguments[...])
    let node = try parser.predicate()
    guard parser.token.kind == .end else {
      throw parser.failure("expected AND, OR or the end, found \(parser.token.description)")
    }
    return node
  }

  var token: PredicateToken { tokens[position] }

  func failure(_ reason: String) -> PredicateFormatError {
    PredicateFormatError(format: format, offset: token.offset, reason: reason)
  }

  mutating func advance() {
    if position < tokens.count - 1 { position += 1 }
  }

  /// Goes past the symbol if it comes next.
  mutating func skip(symbol: String) -> Bool {
    guard token.isSymbol(symbol) else { return false }
    advance()
    return true
  }

  mutating func expect(symbol: String) throws(PredicateFormatError) {
    guard skip(symbol: symbol) else {
      throw failure("expected '\(symbol)', found \(token.description)")
    }
  }

  /// Runs `body` one level deeper.
  mutating func nested<Result>(
    _ body: (inout PredicateParser) throws(PredicateFormatError) -> Result
  ) throws(PredicateFormatError) -> Result {
    guard depth < Self.maximumDepth else {
      throw failure("nested deeper than \(Self.maximumDepth) levels")
    }
    depth += 1
    defer { depth -= 1 }
    return try body(&self)
  }

  mutating func predicate() throws(PredicateFormatError) -> PredicateNode {
    var nodes = [try conjunction()]
    while token.isSymbol("||") || token.isKeyword("OR") {
      advance()
      nodes.append(try conjunction())
    }
    return nodes.count == 1 ? nodes[0] : .or(nodes)
  }

  private mutating func conjunction() throws(PredicateFormatError) -> PredicateNode {
    var nodes = [try negation()]
    while token.isSymbol("&&") || token.isKeyword("AND") {
      advance()
      nodes.append(try negation())
    }
    return nodes.count == 1 ? nodes[0] : .and(nodes)
  }

  private mutating func negation() throws(PredicateFormatError) -> PredicateNode {
    guard token.isSymbol("!") || token.isKeyword("NOT") else { return try primary() }
    advance()
    return .not(
      try nested { (parser) throws(PredicateFormatError) in try parser.negation() })
  }

  private mutating func primary() throws(PredicateFormatError) -> PredicateNode {
    if token.isKeyword("TRUEPREDICATE") || token.isKeyword("FALSEPREDICATE") {
      defer { advance() }
      return .constant(token.isKeyword("TRUEPREDICATE"))
    }
    guard token.isSymbol("("), !parenthesisBeginsExpression else {
      return .comparison(try comparison())
    }
    advance()
    let node = try nested { (parser) throws(PredicateFormatError) in try parser.predicate() }
    try expect(symbol: ")")
    return node
  }

  /// Whether the parenthesis here encloses a value rather than a predicate: an operator follows it.
  private var parenthesisBeginsExpression: Bool {
    var open = 0
    for index in position..<tokens.count {
      let token = tokens[index]
      if token.isSymbol("(") { open += 1 }
      if token.isSymbol(")") { open -= 1 }
      guard open == 0 else { continue }
      let next = tokens[min(index + 1, tokens.count - 1)]
      return Self.comparisonOperator(next) != nil
        || ["+", "-", "*", "/", "**", "%%", ".", "["].contains { next.isSymbol($0) }
    }
    return false
  }
}
