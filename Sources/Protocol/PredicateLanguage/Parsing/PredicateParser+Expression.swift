internal import CloudKitModel

/// The grammar of expressions:
///
/// ```
/// expression = product { ("+" | "-") product }
/// product    = power { ("*" | "/" | "%%") power }
/// power      = operand { "**" operand }
/// operand    = "-" operand | atom { "." name | "[" index "]" }
/// ```
///
/// Arithmetic becomes calls of the functions with which Foundation names it, such as `add:to:`.
extension PredicateParser {
  mutating func expression() throws(PredicateFormatError) -> PredicateTerm {
    try chain(["+": "add:to:", "-": "from:subtract:"]) { (parser) throws(PredicateFormatError) in
      try parser.product()
    }
  }

  /// Parses operands of `*`, `/` and `%%`.
  private mutating func product() throws(PredicateFormatError) -> PredicateTerm {
    try chain(["*": "multiply:by:", "/": "divide:by:", "%%": "modulus:by:"]) {
      (parser) throws(PredicateFormatError) in try parser.power()
    }
  }

  /// Parses operands of `**`. The operator associates to the left.
  private mutating func power() throws(PredicateFormatError) -> PredicateTerm {
    try chain(["**": "raise:toPower:"]) { (parser) throws(PredicateFormatError) in
      try parser.operand()
    }
  }

  /// Parses a chain of operators of one precedence, which associates to the left.
  private mutating func chain(
    _ functions: [String: String],
    _ link: (inout PredicateParser) throws(PredicateFormatError) -> PredicateTerm
  ) throws(PredicateFormatError) -> PredicateTerm {
    var result = try link(&self)
    var length = 0
    while case .symbol(let symbol) = token.kind, let function = functions[symbol] {
      advance()
      result = .function(function, [result, try link(&self)])
      // A long chain becomes a deep tree, so its length counts as depth.
      length += 1
      guard depth + length < Self.maximumDepth else {
        throw failure("nested deeper than \(Self.maximumDepth) levels")
      }
    }
    return result
  }

  /// Parses an atom with the keys after it. `-` before a number gives a negative number, before
  /// another operand `negate:`.
  private mutating func operand() throws(PredicateFormatError) -> PredicateTerm {
    if skip(symbol: "-") {
      if case .number(let text) = token.kind {
        return try number("-" + text)
      }
      let operand = try nested { (parser) throws(PredicateFormatError) in try parser.operand() }
      return .function("negate:", [operand])
    }
    var result = try nested { (parser) throws(PredicateFormatError) in try parser.atom() }
    var length = 0
    while token.isSymbol(".") || token.isSymbol("[") {
      length += 1
      guard length <= Self.maximumDepth else {
        throw failure("a key path has more than \(Self.maximumDepth) keys")
      }
      result = try step(from: result)
    }
    return result
  }

  private mutating func step(
    from expression: PredicateTerm
  ) throws(PredicateFormatError) -> PredicateTerm {
    guard expression.canLeadOn else { throw failure("only a key can have a key after it") }
    let step: String
    if skip(symbol: "[") {
      switch token.kind {
      case .number(let text): step = "[\(text)]"
      case .identifier(let word): step = "[\(word)]"
      default: throw failure("expected an index, found \(token.description)")
      }
      advance()
      try expect(symbol: "]")
    } else {
      advance()
      switch token.kind {
      case .identifier(let name) where PredicateToken.isSelector(name):
        throw failure("expected a key after '.', found the function's name '\(name)'")
      case .identifier(let name), .escapedIdentifier(let name): step = name
      default: throw failure("expected a key after '.', found \(token.description)")
      }
      advance()
    }
    switch expression {
    // An index of the record itself cannot become a key path: printed without `SELF`, it could not
    // be parsed again.
    case .selfObject where PredicateTerm.isIndex(step): return .path(of: .selfObject, [step])
    case .selfObject: return .keyPath([step])
    case .keyPath(let keys): return .keyPath(keys + [step])
    case .path(let start, let keys): return .path(of: start, keys + [step])
    default: return .path(of: expression, [step])
    }
  }

  /// Returns the number that the current token stands for, and advances. A number that fits is an
  /// integer; other numbers are doubles.
  ///
  /// - Throws: ``PredicateFormatError`` when the number is beyond the range of `Double`.
  mutating func number(_ text: String) throws(PredicateFormatError) -> PredicateTerm {
    if let integer = Int64(text) {
      advance()
      return .value(.int64(integer))
    }
    guard let double = Double(text), double.isFinite else {
      throw failure("the number '\(text)' is too large")
    }
    advance()
    return .value(.double(double))
  }
}

extension PredicateTerm {
  /// Whether a key or an index may follow the term.
  fileprivate var canLeadOn: Bool {
    switch self {
    case .selfObject, .keyPath, .path, .function, .subquery, .variable: true
    case .value, .null, .aggregate, .unsupported: false
    }
  }
}
