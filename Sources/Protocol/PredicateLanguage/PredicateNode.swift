package import CloudKitModel

/// What a predicate says, as a tree. It holds all of the format grammar; what CloudKit cannot search
/// for is refused when the tree is lowered to filters (``PredicateLowering``).
package indirect enum PredicateNode: Sendable, Hashable {
  /// `TRUEPREDICATE` and `FALSEPREDICATE`.
  case constant(Bool)
  case comparison(PredicateComparison)
  case not(PredicateNode)
  case and([PredicateNode])
  case or([PredicateNode])
  /// A predicate made of a closure, which cannot be looked into.
  case block

  /// Whether there is an `OR` between two predicates anywhere in the tree.
  package var hasAlternatives: Bool {
    switch self {
    case .constant, .comparison, .block: false
    case .not(let node): node.hasAlternatives
    case .and(let nodes): nodes.contains { $0.hasAlternatives }
    case .or(let nodes): nodes.count > 1 || nodes.contains { $0.hasAlternatives }
    }
  }
}

/// Two expressions and what stands between them.
package struct PredicateComparison: Sendable, Hashable {
  package var modifier: PredicateModifier?
  package var left: PredicateTerm
  package var comparison: PredicateOperator
  /// The letters of `[cd]`, in the order c, d, l, n, w.
  package var options = ""
  package var right: PredicateTerm

  package init(
    modifier: PredicateModifier? = nil, left: PredicateTerm, comparison: PredicateOperator,
    options: String = "", right: PredicateTerm
  ) {
    self.modifier = modifier
    self.left = left
    self.comparison = comparison
    self.options = options
    self.right = right
  }
}

/// How many of a list's elements must pass a comparison. The raw values are the keywords.
package enum PredicateModifier: String, Sendable, Hashable {
  case any = "ANY"
  case all = "ALL"
  case none = "NONE"
}

/// The raw values are the canonical spellings.
package enum PredicateOperator: String, Sendable, Hashable {
  case equal = "=="
  case notEqual = "!="
  case lessThan = "<"
  case lessThanOrEqual = "<="
  case greaterThan = ">"
  case greaterThanOrEqual = ">="
  case between = "BETWEEN"
  case isIn = "IN"
  case contains = "CONTAINS"
  case beginsWith = "BEGINSWITH"
  case endsWith = "ENDSWITH"
  case like = "LIKE"
  case matches = "MATCHES"
  case tokenMatches = "TOKENMATCHES"
}

/// What stands on a side of a comparison.
package indirect enum PredicateTerm: Sendable, Hashable {
  case value(RecordValue)
  case null
  /// The record itself.
  case selfObject
  /// A key, or several that lead from object to object; an index is a key in brackets (`[0]`).
  case keyPath([String])
  /// Keys that lead on from the result of a function, from a variable, or from an element of the record
  /// itself.
  case path(of: PredicateTerm, [String])
  /// `{…}`, and arrays and sets among the arguments.
  case aggregate([PredicateTerm])
  /// `name(…)`, and arithmetic under the names that Foundation has for it.
  case function(String, [PredicateTerm])
  /// `$name`.
  case variable(String)
  case subquery(of: PredicateTerm, variable: String, PredicateNode)
  /// An argument that no field can hold, by its description.
  case unsupported(String)

  /// Whether a step of a path is an index.
  ///
  /// The bytes say so: a mark at the beginning of what is in the brackets makes one character with the
  /// first.
  static func isIndex(_ step: String) -> Bool { step.utf8.first == UInt8(ascii: "[") }
}
