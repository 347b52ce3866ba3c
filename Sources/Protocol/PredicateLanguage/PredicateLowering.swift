package import CloudKitModel

/// The translation ("lowering") of a predicate into the filters with which a server searches. The
/// translation refuses parts that CloudKit cannot search for.
///
/// - A record must pass all filters. So `AND` becomes a longer list. `OR` is refused, and so is the
///   negation of an `AND`, which would be an `OR`.
/// - `NOT` of an equality, `IN`, `CONTAINS` or `BEGINSWITH` becomes a filter with the `NOT_…`
///   comparator. Records without the field pass such a filter.
/// - `NOT a < b` becomes `a >= b`. Records without the field do not pass this filter, because a
///   comparison by order never finds them.
/// - `now()` becomes the time of the lowering. In subscriptions `now()` is refused, because its
///   meaning would change as time passes.
///
/// The client lowers the predicates of queries and subscriptions, the server those of its admin
/// API.
package struct PredicateLowering {
  /// The value of `now()`; nil where `now()` is not allowed.
  package var now: Timestamp?

  /// Creates a conversion. Pass nil for subscriptions.
  package init(now: Timestamp?) {
    self.now = now
  }

  /// Returns the filters that are equivalent to the predicate. An empty list matches every record.
  ///
  /// - Throws: ``PredicateSearchError`` with the part of the predicate that CloudKit cannot search
  ///   for.
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
        "a predicate with a block is not supported; use NSPredicate(format:)")
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

  /// Checks that the filter is well formed. When the key is a system field, the value must also
  /// have the field's type.
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

/// The error for a predicate that CloudKit cannot search for.
package struct PredicateSearchError: Error, Equatable, CustomStringConvertible {
  /// The reason with the refused part of the predicate.
  package var description: String

  init(_ description: String) {
    self.description = description
  }
}

/// The reason why one comparison has no filter. ``PredicateLowering`` adds the comparison and
/// throws a ``PredicateSearchError``.
struct PredicateRefusal: Error {
  var reason: String

  init(_ reason: String) {
    self.reason = reason
  }
}
