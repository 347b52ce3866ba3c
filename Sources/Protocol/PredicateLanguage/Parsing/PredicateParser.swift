internal import CloudKitModel

/// A parser of Foundation's predicate format, by recursive descent over its tokens.
///
/// ```
/// predicate   = conjunction { ("OR" | "||") conjunction }
/// conjunction = negation { ("AND" | "&&") negation }
/// negation    = ("NOT" | "!") negation | primary
/// primary     = "TRUEPREDICATE" | "FALSEPREDICATE" | "(" predicate ")" | comparison
/// ```
///
/// Keywords may have any case. Three other files have the rest of the grammar: comparisons,
/// expressions, and atoms.
///
///     try PredicateParser.parse("title BEGINSWITH %@ AND rating > 3", arguments: [title])
package struct PredicateParser {
  /// The deepest nesting that the parser accepts. The limit keeps a hostile format from exhausting
  /// the stack.
  package static let maximumDepth = 100

  let format: String
  /// The tokens of the format. The last one is the end.
  let tokens: [PredicateToken]
  var position = 0
  /// The current depth of nesting, at most ``maximumDepth``.
  var depth = 0
  var arguments: ArraySlice<PredicateArgument>

  /// Returns the tree that `format` describes.
  ///
  /// - Parameters:
  ///   - format: The predicate format, as for `NSPredicate(format:)`.
  ///   - arguments: The values for `%@`, `%K` and the number formats, in their order. Arguments
  ///     without a placeholder are ignored.
  /// - Throws: ``PredicateFormatError`` for the first mistake.
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

  /// Throws a ``PredicateFormatError`` when ``maximumDepth`` is reached, and errors of `body`.
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

  /// Whether the parenthesis at the current token encloses a value and no predicate: an operator of
  /// a comparison, of arithmetic or of a path follows the closing parenthesis.
  ///
  /// - Complexity: Linear in the number of tokens up to the closing parenthesis.
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
