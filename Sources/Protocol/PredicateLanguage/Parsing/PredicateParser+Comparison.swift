/// The grammar of a comparison:
///
/// ```
/// comparison = [ "ANY" | "SOME" | "ALL" | "NONE" ] expression operator [ "[" letters "]" ]
///              expression
/// ```
extension PredicateParser {
  mutating func comparison() throws(PredicateFormatError) -> PredicateComparison {
    let modifier = modifier()
    let left = try expression()
    guard let comparisonOperator = Self.comparisonOperator(token) else {
      throw failure("expected a comparison such as '==', found \(token.description)")
    }
    advance()
    let options = try options()
    if token.kind == .end {
      throw failure("expected a value after '\(comparisonOperator.rawValue)', found the end")
    }
    return PredicateComparison(
      modifier: modifier, left: left, comparison: comparisonOperator, options: options,
      right: try expression())
  }

  /// Parses an optional modifier. `SOME` means the same as `ANY`.
  private mutating func modifier() -> PredicateModifier? {
    let modifier: PredicateModifier
    switch token.keyword {
    case "ANY", "SOME": modifier = .any
    case "ALL": modifier = .all
    case "NONE": modifier = .none
    default: return nil
    }
    advance()
    return modifier
  }

  /// `=<` and `=>` are other spellings of `<=` and `>=`.
  static func comparisonOperator(_ token: PredicateToken) -> PredicateOperator? {
    switch token.kind {
    case .symbol("="), .symbol("=="): .equal
    case .symbol("!="), .symbol("<>"): .notEqual
    case .symbol("<"): .lessThan
    case .symbol("<="), .symbol("=<"): .lessThanOrEqual
    case .symbol(">"): .greaterThan
    case .symbol(">="), .symbol("=>"): .greaterThanOrEqual
    case .identifier(let word):
      switch word.uppercased() {
      case "BETWEEN": .between
      case "IN": .isIn
      case "CONTAINS": .contains
      case "BEGINSWITH": .beginsWith
      case "ENDSWITH": .endsWith
      case "LIKE": .like
      case "MATCHES": .matches
      case "TOKENMATCHES": .tokenMatches
      default: nil
      }
    default: nil
    }
  }

  /// Parses optional letters in brackets, such as `[cd]`. Returns them in lower case, each once, in
  /// the order c, d, l, n, w.
  private mutating func options() throws(PredicateFormatError) -> String {
    guard skip(symbol: "[") else { return "" }
    guard case .identifier(let letters) = token.kind,
      letters.lowercased().allSatisfy({ "cdlnw".contains($0) })
    else {
      throw failure("expected letters of 'c', 'd', 'l', 'n', 'w', found \(token.description)")
    }
    advance()
    try expect(symbol: "]")
    let given = letters.lowercased()
    return "cdlnw".filter { given.contains($0) }
  }
}
