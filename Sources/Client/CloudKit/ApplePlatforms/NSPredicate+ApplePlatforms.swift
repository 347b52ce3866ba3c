#if canImport(ObjectiveC)
internal import CloudKitModel
internal import PredicateLanguage

extension NSPredicate {
  /// The parsed form of the predicate if it compares two expressions; `nil` for all other kinds of
  /// predicate.
  ///
  /// This file is for platforms with the Objective-C runtime: there code can read the parts of
  /// Foundation's predicates. `FormatPredicate.swift` has the same members for Linux.
  var ownTree: PredicateNode? {
    guard let comparison = self as? NSComparisonPredicate else { return nil }
    return PredicateNode(comparison)
  }

  /// Always `nil` on these platforms, because Foundation's predicates cannot store filters. On
  /// Linux, this property has the server's filters from which the predicate was made.
  var ownFilters: [Filter]? { nil }

  /// Returns Foundation's predicate for a parsed tree.
  ///
  /// A `.block` node stands for a predicate that was made from a closure. The result for such a
  /// node is false for each object. For a comparison, Foundation parses the printed text of the
  /// node.
  ///
  /// - Parameter filters: ignored here; on Linux the predicate stores them.
  static func predicate(_ tree: PredicateNode, filters: [Filter]? = nil) -> NSPredicate {
    switch tree {
    case .constant(let value): return NSPredicate(value: value)
    case .block: return NSPredicate { _, _ in false }
    case .not(let node):
      return NSCompoundPredicate(notPredicateWithSubpredicate: predicate(node))
    case .and(let nodes):
      return NSCompoundPredicate(andPredicateWithSubpredicates: nodes.map { predicate($0) })
    case .or(let nodes):
      return NSCompoundPredicate(orPredicateWithSubpredicates: nodes.map { predicate($0) })
    case .comparison(let comparison):
      return NSPredicate(format: PredicatePrinter.text(.comparison(comparison)))
    }
  }
}

extension PredicateNode {
  /// Creates the node of a comparison. The node is `.block` when the parser does not accept the
  /// printed predicate.
  fileprivate init(_ predicate: NSComparisonPredicate) {
    guard let comparison = PredicateOperator(predicate.predicateOperatorType) else {
      // Foundation names an operator with its own selector, such as TOKENMATCHES, only in the
      // printed predicate. A predicate that cannot be parsed becomes a block, which queries refuse.
      self = (try? PredicateParser.parse(predicate.predicateFormat)) ?? .block
      return
    }
    let modifier: PredicateModifier? =
      switch predicate.comparisonPredicateModifier {
      case .all: .all
      case .any: .any
      default: nil
      }
    var options = ""
    if predicate.options.contains(.caseInsensitive) { options += "c" }
    if predicate.options.contains(.diacriticInsensitive) { options += "d" }
    if predicate.options.contains(.normalized) { options += "n" }
    self = .comparison(
      PredicateComparison(
        modifier: modifier, left: PredicateTerm(predicate.leftExpression),
        comparison: comparison, options: options,
        right: PredicateTerm(predicate.rightExpression)))
  }
}

extension PredicateOperator {
  /// Creates the operator from Foundation's; `nil` for an operator that Foundation evaluates with a
  /// selector.
  fileprivate init?(_ type: NSComparisonPredicate.Operator) {
    switch type {
    case .lessThan: self = .lessThan
    case .lessThanOrEqualTo: self = .lessThanOrEqual
    case .greaterThan: self = .greaterThan
    case .greaterThanOrEqualTo: self = .greaterThanOrEqual
    case .equalTo: self = .equal
    case .notEqualTo: self = .notEqual
    case .matches: self = .matches
    case .like: self = .like
    case .beginsWith: self = .beginsWith
    case .endsWith: self = .endsWith
    case .in: self = .isIn
    case .contains: self = .contains
    case .between: self = .between
    default: return nil
    }
  }
}

extension PredicateTerm {
  /// Creates the term of an expression. An expression of another kind, such as a block or a
  /// sub-query, becomes `.unsupported` with its description.
  fileprivate init(_ expression: NSExpression) {
    switch expression.expressionType {
    case .constantValue:
      self = PredicateArgument.expression(for: expression.constantValue ?? NSNull())
    case .evaluatedObject: self = .selfObject
    case .variable: self = .variable(expression.variable)
    case .keyPath:
      self = .keyPath(expression.keyPath.split(separator: ".").map(String.init))
    case .aggregate:
      let elements = expression.collection as? [NSExpression] ?? []
      self = .aggregate(elements.map { PredicateTerm($0) })
    case .function:
      self = .function(
        expression.function, (expression.arguments ?? []).map { PredicateTerm($0) })
    default: self = .unsupported(expression.description)
    }
  }
}
#endif
