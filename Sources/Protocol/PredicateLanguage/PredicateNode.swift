package import CloudKitModel

/// A predicate as a tree. It can hold everything that the grammar of the format allows.
///
/// ``PredicateLowering`` later refuses the parts that CloudKit cannot search for. So an app can
/// build and print each predicate, as with Foundation.
package indirect enum PredicateNode: Sendable, Hashable {
  case constant(Bool)
  case comparison(PredicateComparison)
  case not(PredicateNode)
  case and([PredicateNode])
  case or([PredicateNode])
  /// A predicate with a closure, which cannot be inspected or sent to a server.
  case block

  package var hasAlternatives: Bool {
    switch self {
    case .constant, .comparison, .block: false
    case .not(let node): node.hasAlternatives
    case .and(let nodes): nodes.contains { $0.hasAlternatives }
    case .or(let nodes): nodes.count > 1 || nodes.contains { $0.hasAlternatives }
    }
  }
}

/// A comparison of two terms.
package struct PredicateComparison: Sendable, Hashable {
  /// The keyword before the comparison, for list fields; nil without one.
  package var modifier: PredicateModifier?
  package var left: PredicateTerm
  package var comparison: PredicateOperator
  /// The letters in brackets, such as `cd`, in the order c, d, l, n, w. Empty without brackets.
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

/// The number of a list's elements that must pass a comparison. The raw values are the keywords.
package enum PredicateModifier: String, Sendable, Hashable {
  /// At least one element must pass (`ANY`, `SOME`).
  case any = "ANY"
  /// All elements must pass. CloudKit cannot search with it.
  case all = "ALL"
  /// No element may pass.
  case none = "NONE"
}

/// An operator of a comparison. The raw values are the canonical spellings.
///
/// CloudKit cannot search with `ENDSWITH`, `LIKE` and `MATCHES`.
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

/// A term on one side of a comparison.
package indirect enum PredicateTerm: Sendable, Hashable {
  case value(RecordValue)
  /// `NULL` or `NIL`.
  case null
  /// The record itself (`SELF`).
  case selfObject
  /// One key, or several that lead from object to object. An index is a key in brackets, such as
  /// `[0]`.
  case keyPath([String])
  /// Keys after the result of a function, a variable, or an element of the record itself.
  case path(of: PredicateTerm, [String])
  /// A list in braces (`{…}`), or an array or a set among the arguments.
  case aggregate([PredicateTerm])
  /// A function call, `name(…)`. Arithmetic is a call of the function that Foundation names for it.
  case function(String, [PredicateTerm])
  case variable(String)
  /// A subquery, `SUBQUERY(list, $variable, condition)`.
  case subquery(of: PredicateTerm, variable: String, PredicateNode)
  /// An argument that no field can hold, by its description. The lowering refuses it with this
  /// text.
  case unsupported(String)

  /// Returns whether a step of a path is an index.
  ///
  /// The check looks at bytes. A combining mark directly after the opening bracket would form one
  /// `Character` with the bracket.
  static func isIndex(_ step: String) -> Bool { step.utf8.first == UInt8(ascii: "[") }
}
