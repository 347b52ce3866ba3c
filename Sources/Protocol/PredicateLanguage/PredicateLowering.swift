package import CloudKitModel

/// Turns a predicate into the filters that a server searches with, or says what CloudKit cannot
/// search for.
///
/// - All filters must hold, so `AND` is a longer list, and there is no `OR`.
/// - `NOT` of an equality, `IN`, `CONTAINS` or `BEGINSWITH` is the `NOT_…` comparator, which records
///   without the field pass. `NOT a < b` is `a >= b`, which they do not pass: a comparison by order
///   never finds a record without the field.
/// - `now()` becomes the moment of lowering. A subscription lives on, so it is refused there.
package struct PredicateLowering {
  /// What `now()` stands for; nil where it is not allowed.
  package var now: Timestamp?

  package init(now: Timestamp?) {
    self.now = now
  }

  package func filters(for node: PredicateNode) throws(PredicateSearchError) -> [Filter] {
    try filters(for: node, negated: false)
  }

  private func filters(
    for node: PredicateNode, negated: Bool
  ) throws(PredicateSearchError) -> [Filter] {
    switch node {
    case .constant(let value):
      return value != negated ? [] : [.never]
    case .not(let inner):
      return try filters(for: inner, negated: !negated)
    case .and(let nodes) where nodes.count == 1:
      return try filters(for: nodes[0], negated: negated)
    case .and(let nodes):
      guard !negated else {
        throw refusal("NOT cannot negate an AND", .not(node))
      }
      var result: [Filter] = []
      for node in nodes { result += try filters(for: node, negated: false) }
      return result
    case .or(let nodes) where nodes.count == 1:
      return try filters(for: nodes[0], negated: negated)
    case .or:
      throw refusal("OR is not supported; make one query or subscription for each side", node)
    case .block:
      throw PredicateSearchError(
        "predicates made of a block are not supported; use NSPredicate(format:)")
    case .comparison(let comparison):
      do {
        let filters = try ComparisonLowering(comparison, now: now).filters(negated: negated)
        for filter in filters { try Self.validate(filter) }
        return filters
      } catch {
        throw refusal(error.reason, negated ? .not(node) : node)
      }
    }
  }

  /// Throws unless the filter is well formed, and of the right type where the key is the record's
  /// own property.
  private static func validate(_ filter: Filter) throws(PredicateRefusal) {
    do {
      try filter.validate()
      if case .system(let field) = filter.key, filter != .never {
        try filter.validate(against: FieldType(field.type))
      }
    } catch {
      throw PredicateRefusal(error.reason)
    }
  }

  private func refusal(_ reason: String, _ node: PredicateNode) -> PredicateSearchError {
    PredicateSearchError(
      "the predicate cannot be searched for: \(reason): \(PredicatePrinter.text(node))")
  }
}

/// That a predicate says something that CloudKit cannot search for.
package struct PredicateSearchError: Error, Equatable, CustomStringConvertible {
  package var description: String

  init(_ description: String) {
    self.description = description
  }
}

/// Why a comparison has no filter.
struct PredicateRefusal: Error {
  var reason: String

  init(_ reason: String) {
    self.reason = reason
  }
}
