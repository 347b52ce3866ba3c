#if canImport(ObjectiveC)
internal import CloudKitModel
internal import PredicateLanguage

extension NSPredicate {
  /// What the predicate says when it compares two expressions; nil for Foundation's other kinds.
  var ownTree: PredicateNode? {
    guard let comparison = self as? NSComparisonPredicate else { return nil }
    return PredicateNode(comparison)
  }

  /// Apple's predicates remember nothing but what they say.
  var ownFilters: [Filter]? { nil }

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
  fileprivate init(_ predicate: NSComparisonPredicate) {
    guard let comparison = PredicateOperator(predicate.predicateOperatorType) else {
      // Operators with a selector of their own, such as TOKENMATCHES, can only be told by their
      // print.
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
