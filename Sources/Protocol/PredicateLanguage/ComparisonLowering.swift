internal import CloudKitModel

/// The translation of one comparison into filters: mostly one filter, two for `BETWEEN`.
///
/// *Lowering* is the translation of a parsed predicate into the filters that the server can search
/// with. The initializer determines the meaning of both sides (``PredicateOperand``). Then the
/// combination of the two sides decides:
///
/// - A distance and a number become `NEAR`.
/// - Words and a field become a search for tokens.
/// - A field and a value or a list go to ``FieldComparison``, with the field on the left.
struct ComparisonLowering {
  /// The keyword `ANY`, `ALL` or `NONE` before the comparison; nil without one.
  private let modifier: PredicateModifier?
  private let left: PredicateOperand
  private let comparison: PredicateOperator
  private let right: PredicateOperand
  private let options: Filter.Options

  /// Determines the meaning of both sides.
  ///
  /// - Parameter now: The value of `now()`; nil where `now()` is not allowed.
  /// - Throws: ``PredicateRefusal`` for `LIKE`, `MATCHES`, `ENDSWITH`, and for sides that CloudKit
  ///   cannot search with.
  init(_ node: PredicateComparison, now: Timestamp?) throws(PredicateRefusal) {
    switch node.comparison {
    case .like, .matches, .endsWith:
      throw PredicateRefusal("\(node.comparison.rawValue) is not supported")
    default: break
    }
    modifier = node.modifier
    comparison = node.comparison
    left = try PredicateOperand(node.left, now: now)
    right = try PredicateOperand(node.right, now: now)
    var options: Filter.Options = []
    if node.options.contains("c") { options.insert(.caseInsensitive) }
    if node.options.contains("d") { options.insert(.diacriticInsensitive) }
    self.options = options
  }

  /// Returns the filters of the comparison. A record must pass all of them.
  ///
  /// - Parameter negated: Whether the comparison is inside an odd number of `NOT`s.
  /// - Throws: ``PredicateRefusal`` when CloudKit has no filter for the comparison.
  func filters(negated: Bool) throws(PredicateRefusal) -> [Filter] {
    switch (left, right) {
    case (.distance(let key, let place), .value(let radius)):
      return [try near(key, place, radius, comparison, negated: negated)]
    case (.value(let radius), .distance(let key, let place)):
      return [try near(key, place, radius, Self.flipped(comparison), negated: negated)]
    case (.distance, _), (_, .distance):
      throw PredicateRefusal("a distance can only be compared with a number")
    case (.tokens(let words), .field(let key)):
      return [try tokens(words, in: key, negated: negated)]
    case (.tokens, _), (_, .tokens):
      throw PredicateRefusal("tokenize:using: can only be used as in tokenize:using:(…) IN key")
    case (.field, .field):
      throw PredicateRefusal("a comparison of two fields is not supported")
    case (.field(let key), .value), (.field(let key), .list):
      return try filters(key, negated: negated)
    case (.value, .field(let key)), (.list, .field(let key)):
      return try flippedFilters(key, negated: negated)
    default:
      throw PredicateRefusal("the comparison has no field on either side")
    }
  }

  /// Returns the `NEAR` filter for `distance < radius` or `distance <= radius`, in metres. Both
  /// give the same filter, which includes the radius.
  private func near(
    _ key: FieldKey, _ place: Location, _ radius: RecordValue, _ comparison: PredicateOperator?,
    negated: Bool
  ) throws(PredicateRefusal) -> Filter {
    guard comparison == .lessThan || comparison == .lessThanOrEqual, modifier == nil, !negated
    else {
      throw PredicateRefusal(
        "a distance can only be compared with a radius by < or <=, without NOT, ANY, ALL or NONE")
    }
    switch radius {
    case .int64(let metres): return Filter(key, .near, .location(place), distance: Double(metres))
    case .double(let metres): return Filter(key, .near, .location(place), distance: metres)
    default: throw PredicateRefusal("a distance can only be compared with a number")
    }
  }

  /// Returns the filter of `tokenize:using:(words, …) IN key`: any of the words with `ANY`,
  /// otherwise all of them.
  private func tokens(
    _ words: String, in key: FieldKey, negated: Bool
  ) throws(PredicateRefusal) -> Filter {
    guard comparison == .isIn else {
      throw PredicateRefusal("tokenize:using: can only be used as in tokenize:using:(…) IN key")
    }
    guard !negated, modifier != PredicateModifier.none else {
      throw PredicateRefusal("NOT cannot negate a search for words")
    }
    return Filter(
      key, modifier == .any ? .containsAnyTokens : .containsAllTokens, .string(words))
  }

  private static func flipped(_ comparison: PredicateOperator) -> PredicateOperator? {
    switch comparison {
    case .equal, .notEqual: comparison
    case .lessThan: .greaterThan
    case .lessThanOrEqual: .greaterThanOrEqual
    case .greaterThan: .lessThan
    case .greaterThanOrEqual: .lessThanOrEqual
    case .isIn: .contains
    case .contains: .isIn
    default: nil
    }
  }

  private func flippedFilters(
    _ key: FieldKey, negated: Bool
  ) throws(PredicateRefusal) -> [Filter] {
    guard modifier == nil, let flipped = Self.flipped(comparison) else {
      throw PredicateRefusal("the field must be on the left side")
    }
    return try FieldComparison(
      key: key, comparison: flipped, operand: left, options: options
    ).filters(negated: negated)
  }

  /// `ANY` and `NONE` compare the elements of a list field.
  private func filters(
    _ key: FieldKey, negated: Bool
  ) throws(PredicateRefusal) -> [Filter] {
    let field = FieldComparison(
      key: key, comparison: comparison, operand: right, options: options)
    switch modifier {
    case nil: return try field.filters(negated: negated)
    case .all: throw PredicateRefusal("ALL is not supported")
    case .any: return [try field.elementFilter(negated: negated)]
    case .some(.none): return [try field.elementFilter(negated: !negated)]
    }
  }
}
