#if canImport(ObjectiveC)
internal import CloudKitModel
internal import PredicateLanguage

extension NSPredicate {
  /// The parsed form of a comparison of two expressions; `nil` for all other kinds of predicate.
  ///
  /// This file is for platforms with the Objective-C runtime, where Foundation's predicates can be
  /// examined. `FormatPredicate.swift` has the same members for Linux.
  var ownTree: PredicateNode? {
    guard let comparison = self as? NSComparisonPredicate else { return nil }
    return PredicateNode(comparison)
  }

  /// Always `nil`: Foundation's predicates do not keep the server's filters that they were made
  /// from.
  var ownFilters: [Filter]? { nil }

  /// Returns Foundation's predicate for a parsed tree.
  ///
  /// A block in the tree becomes a predicate that no object passes. A comparison is printed and
  /// parsed again by Foundation.
  ///
  /// - Parameter filters: ignored here; on Linux the predicate keeps them.
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
  /// Creates the node of a comparison, or a `.block` node when the printed predicate does not
  /// follow the grammar.
  fileprivate init(_ predicate: NSComparisonPredicate) {
    guard let comparison = PredicateOperator(predicate.predicateOperatorType) else {
      // Foundation shows an operator with its own selector, such as TOKENMATCHES, only in the
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
  /// Creates the operator; `nil` for operators with their own selector.
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
  /// Creates the term of an expression. Kinds without a counterpart, such as blocks and
  /// sub-queries, become `.unsupported` with the description.
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
