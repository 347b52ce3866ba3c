internal import CloudKitModel

/// What a predicate says, as a tree. It holds all of the format grammar; what CloudKit cannot search
/// for is refused when the tree is lowered to filters (``PredicateLowering``).
indirect enum PredicateNode: Sendable, Hashable {
  /// `TRUEPREDICATE` and `FALSEPREDICATE`.
  case constant(Bool)
  case comparison(PredicateComparison)
  case not(PredicateNode)
  case and([PredicateNode])
  case or([PredicateNode])
  /// A predicate made of a closure, which cannot be looked into.
  case block

  /// Whether there is an `OR` between two predicates anywhere in the tree.
  var hasAlternatives: Bool {
    switch self {
    case .constant, .comparison, .block: false
    case .not(let node): node.hasAlternatives
    case .and(let nodes): nodes.contains { $0.hasAlternatives }
    case .or(let nodes): nodes.count > 1 || nodes.contains { $0.hasAlternatives }
    }
  }
}

/// Two expressions and what stands between them.
struct PredicateComparison: Sendable, Hashable {
  var modifier: PredicateModifier?
  var left: PredicateExpression
  var comparison: PredicateOperator
  /// The letters of `[cd]`, in the order c, d, l, n, w.
  var options = ""
  var right: PredicateExpression
}

/// How many of a list's elements must pass a comparison. The raw values are the keywords.
enum PredicateModifier: String, Sendable, Hashable {
  case any = "ANY"
  case all = "ALL"
  case none = "NONE"
}

/// The raw values are the canonical spellings.
enum PredicateOperator: String, Sendable, Hashable {
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
indirect enum PredicateExpression: Sendable, Hashable {
  case value(RecordValue)
  case null
  /// The record itself.
  case selfObject
  /// A key, or several that lead from object to object; an index is a key in brackets (`[0]`).
  case keyPath([String])
  /// Keys that lead on from the result of a function or from a variable.
  case path(of: PredicateExpression, [String])
  /// `{…}`, and arrays and sets among the arguments.
  case aggregate([PredicateExpression])
  /// `name(…)`, and arithmetic under the names that Foundation has for it.
  case function(String, [PredicateExpression])
  /// `$name`.
  case variable(String)
  case subquery(of: PredicateExpression, variable: String, PredicateNode)
  /// An argument that no field can hold, by its description.
  case unsupported(String)
}
